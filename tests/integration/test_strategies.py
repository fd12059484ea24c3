"""Strategies that a plugin brings: which incidents end an instance, and where commits are added."""

from __future__ import annotations

from collections.abc import Sequence as Names

import pytest

from holdfast import Holdfast, Status, Workflow
from holdfast.activities import Fault, Parallel, Sequence, WriteLine
from holdfast.api import IncidentStrategy
from holdfast.errors import InvalidDefinition
from holdfast.ports import Registration


class Careful:
    name = "careful"
    needs: Names[str] = ()

    def register(self, registration: Registration) -> None:
        registration.incident_strategy("only_serious", lambda incident: incident.details.get("category") == "Serious")
        registration.commit_strategy("around_lines", lambda activity: (activity.type == "WriteLine",) * 2)


def failing(category: str, incident: str) -> Workflow:
    return Workflow(Parallel(Fault("no", category=category), WriteLine("other")), id="f", incident=incident)


@pytest.mark.parametrize(("category", "status"), [("Serious", Status.FAULTED), ("Trifle", Status.SUSPENDED)])
async def test_a_plugin_decides_what_ends_an_instance(category: str, status: Status) -> None:
    result = await Holdfast(plugins=[Careful()]).runner.run(failing(category, "only_serious"))

    assert result.status is status
    assert result.lines == ["other"]
    assert [incident.message for incident in result.incidents] == ["no"]


async def test_an_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidDefinition, match=r"only_serious.*Known: fault, continue_with_incidents"):
        await Holdfast().runner.run(failing("Trifle", "only_serious"))


async def test_a_plugin_adds_commits() -> None:
    lines = Sequence(WriteLine("1"), WriteLine("2"))
    plain = await Holdfast().runner.run(Workflow(Sequence(WriteLine("1"), WriteLine("2")), id="p"))
    added = await Holdfast(plugins=[Careful()]).runner.run(Workflow(lines, id="a", commit="around_lines"))

    assert plain.commits == 1
    assert added.commits > plain.commits
    assert added.lines == ["1", "2"]


async def test_the_names_of_the_two_strategies_of_our_own() -> None:
    result = await Holdfast().runner.run(failing("Serious", IncidentStrategy.CONTINUE))

    assert result.status is Status.SUSPENDED
