"""Runs definitions that came from Elsa, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.elsa import parse_elsa

MAX_RESUMES = 50
"""More than any case needs; a case that waits for ever fails instead of hanging."""


async def play(
    document: Any,
    children: Sequence[Any] = (),
    *,
    mode: str = "counter",
    inputs: Mapping[str, Any] | None = None,
    steps: Sequence[Mapping[str, Any]] = (),
) -> tuple[Any, int]:
    """The last result, and how many bookmarks stood open after the first burst."""
    runner = Holdfast(definitions=[parse_elsa(child) for child in children]).runner
    result = await runner.run(parse_elsa(document), inputs=dict(inputs or {}), flowchart_mode=mode)
    waiting = len(result.bookmarks)
    for step in steps:
        if step.get("cancel"):
            result = await runner.cancel(result)
        elif step["resume"] == "all":
            for _ in range(MAX_RESUMES):
                if not result.bookmarks:
                    break
                result = await runner.resume(result, result.bookmarks[0], {})
        else:
            bookmark = next(each for each in result.bookmarks if each.activity_id == step["resume"])
            result = await runner.resume(result, bookmark, step.get("payload", {}))
    return result, waiting


Play = Callable[..., Coroutine[Any, Any, tuple[Any, int]]]


@pytest.fixture
def played() -> Play:
    return play


@pytest.fixture
def patched() -> Callable[[Path, Mapping[str, Any]], Any]:
    """A document with some of its values replaced, by JSON pointer."""

    def patch(file: Path, values: Mapping[str, Any]) -> Any:
        text = file.read_bytes()
        if not values:
            return text
        document = json.loads(text.decode("utf-8-sig"))
        for pointer, value in values.items():
            *parents, last = pointer.split("/")[1:]
            holder = document
            for part in parents:
                holder = holder[int(part)] if isinstance(holder, list) else holder[part]
            assert last in holder, f"{file.name} has no {pointer}"
            holder[last] = value
        return document

    return patch
