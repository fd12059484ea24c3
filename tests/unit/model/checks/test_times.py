"""Times that cannot be: found before anything runs, where they are written as literals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.errors import InvalidCron
from holdfast.model.problem import Problem
from holdfast.ports import CronCalendar

ENGINE = Holdfast(entry_points=False)


def problems(engine: Holdfast, kind: str, **inputs: Any) -> Sequence[Problem]:
    root = {"type": kind, "id": "when", "inputs": inputs, "options": {"can_start": kind != "Delay"}}
    return engine.validate({"format": "holdfast/definition@1", "id": "timed", "root": root})


@pytest.mark.parametrize(
    ("kind", "inputs", "name", "code", "told"),
    [
        ("Cron", {"expression": "61 * * * *"}, "expression", "invalid-cron", "minute"),
        ("Cron", {"expression": "* * * *"}, "expression", "invalid-cron", "4 fields"),
        ("Cron", {"expression": ""}, "expression", "invalid-cron", "0 fields"),
        ("Cron", {"expression": "@fortnightly"}, "expression", "invalid-cron", "@weekly"),
        ("Cron", {"expression": "0 0 30 2 *"}, "expression", "invalid-cron", "day-of-month"),
        ("Cron", {"expression": {"$literal": "0 0 31 4 *"}}, "expression", "invalid-cron", "day-of-month"),
        ("Cron", {"expression": "0 9 * * *", "zone": "Europe/Berln"}, "zone", "invalid-zone", "Europe/Berlin"),
        ("Cron", {"expression": "0 9 * * *", "misfire": "fire_twice"}, "misfire", "unknown-mode", "fire_once"),
        ("Cron", {"expression": "0 9 * * *", "catch_up_max": 0}, "catch_up_max", "invalid-limit", "1 or more"),
        ("Timer", {"interval": "PT0S"}, "interval", "invalid-duration", "above zero"),
        ("Timer", {"interval": "-PT5S"}, "interval", "invalid-duration", "above zero"),
        ("Timer", {"interval": "soon"}, "interval", "invalid-literal", "PT30S"),
        ("Delay", {"duration": "-PT5S"}, "duration", "invalid-duration", "zero or more"),
        ("StartAt", {"at": "2031-02-30T12:00:00Z"}, "at", "invalid-literal", "2031-05-01T12:00:00Z"),
        ("StartAt", {"at": "tomorrow"}, "at", "invalid-literal", "ISO 8601"),
    ],
)
def test_a_time_that_cannot_be_is_found(kind: str, inputs: dict[str, Any], name: str, code: str, told: str) -> None:
    (problem,) = problems(ENGINE, kind, **inputs)

    assert (problem.path, problem.code) == (f"/root/inputs/{name}", code)
    assert told in f"{problem.message} {problem.remedy}"


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("Cron", {"expression": "*/5 * * * *"}),
        ("Cron", {"expression": "0 0 29 2 *", "zone": "Europe/Berlin", "misfire": "catch_up", "catch_up_max": 3}),
        ("Cron", {"expression": "@daily", "zone": ""}),
        ("Cron", {"expression": {"$python": "'0 9 * * *'"}, "zone": {"$python": "'nowhere'"}}),
        ("Timer", {"interval": "PT30S"}),
        ("Delay", {"duration": "PT0S"}),
        ("StartAt", {"at": "2031-02-28T12:00:00Z"}),
    ],
)
def test_a_time_that_can_be_is_let_through(kind: str, inputs: dict[str, Any]) -> None:
    assert problems(ENGINE, kind, **inputs) == []


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"timeout": "PT0S"}, "timeout"),
        ({"timeout": "-PT1S"}, "timeout"),
        ({"retry": {"delay": "-PT1S"}}, "retry/delay"),
    ],
)
def test_lengths_in_options_are_looked_at_too(options: dict[str, Any], place: str) -> None:
    root = {"type": "WriteLine", "id": "say", "inputs": {"text": "x"}, "options": options}

    (problem,) = ENGINE.validate({"format": "holdfast/definition@1", "id": "timed", "root": root})

    assert (problem.path, problem.code) == (f"/root/options/{place}", "invalid-duration")


def test_a_calendar_of_ones_own_reads_its_own_expressions() -> None:
    class FullMoons:
        def check(self, expression: str, zone: str) -> None:
            if expression != "full moon":
                raise InvalidCron(expression, "only the moon is known here")

        def next(self, expression: str, zone: str, after: datetime) -> datetime | None:
            return after

    engine = Holdfast(entry_points=False, services={CronCalendar: FullMoons()})

    assert problems(engine, "Cron", expression="full moon") == []
    assert [item.code for item in problems(engine, "Cron", expression="0 9 * * *")] == ["invalid-cron"]
