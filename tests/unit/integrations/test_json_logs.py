"""Log lines that machines read."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import telemetry
from holdfast.integrations.json_logs import JsonFormatter


@pytest.fixture
def lines() -> Iterator[Any]:
    target = io.StringIO()
    handler = logging.StreamHandler(target)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("holdfast")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in target.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_an_event_is_a_line_with_its_fields(lines: Any) -> None:
    telemetry.log_event("instance.suspended", {"instance_id": "i1", "definition_id": "d", "bookmarks": 2})

    (line,) = lines()
    assert (line["event"], line["instance_id"], line["bookmarks"], line["level"]) == (
        "instance.suspended",
        "i1",
        2,
        "info",
    )


def test_what_is_called_later_is_left_out_and_a_trace_is_taken_apart(lines: Any) -> None:
    telemetry.log_event(
        "burst.committed",
        {
            "instance_id": "i1",
            "definition_id": "d",
            "trace": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "began_ns": 1,
            "ran_ns": 2,
            "committed_ns": 3,
            "entries": list,
        },
    )

    (line,) = lines()
    assert "entries" not in line
    assert line["trace_id"] == "0af7651916cd43dd8448eb211c80319c"


def test_errors_and_extras(lines: Any) -> None:
    try:
        raise ConnectionError("no way")
    except ConnectionError:
        logging.getLogger("holdfast.x").exception("it %s", "failed", extra={"order": 7})

    (line,) = lines()
    assert (line["message"], line["order"], line["logger"]) == ("it failed", 7, "holdfast.x")
    assert "ConnectionError: no way" in line["error"]


def test_the_same_words_in_colour_are_left_out(lines: Any) -> None:
    """uvicorn brings what it says twice: for terminals with escapes."""
    coloured = {"color_message": "Started [\u001b[36m7\u001b[0m]"}
    logging.getLogger("holdfast.x").info("Started [7]", extra=coloured)

    (line,) = lines()
    assert line["message"] == "Started [7]"
    assert "color_message" not in line
