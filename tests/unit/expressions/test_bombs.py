"""No expression holds a process: each bomb ends with a value or an error, and the next expression is evaluated."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ExpressionError, ExpressionLimit
from holdfast.execution import suspension
from holdfast.expressions.isolation.children import Children
from holdfast.expressions.javascript import JavaScriptEvaluator
from holdfast.expressions.javascript.engine import JsLimits
from holdfast.expressions.liquid import LiquidEvaluator
from holdfast.ports import ExpressionEvaluator
from tests.support.bombs import bombs_javascript, bombs_liquid, bombs_python
from tests.support.bombs.values import values
from tests.unit.expressions.conftest import Place

SHORT = timedelta(milliseconds=40)
MEMORY_KB = 300_000
"""Memory that the process of the tests may gain."""


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    pool = Children()
    yield pool
    pool.close()


def evaluated(evaluator: ExpressionEvaluator, source: str, here: Place) -> Any:
    try:
        return evaluator.compile(source, here.names).evaluate(here.scope)
    except ExpressionError as error:
        return error


async def survives(evaluator: ExpressionEvaluator, bombs: tuple[str, ...], probe: str, expected: Any) -> list[Any]:
    """Evaluate the bombs one after the other on an event loop that other tasks use."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    here, turns, limited = Place(values()), 0, 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counter = asyncio.ensure_future(count_turns())
    found = []
    for source in bombs:
        begun = turns
        answer = await suspension.run(evaluated, evaluator, source, here)
        found.append(answer)
        if isinstance(answer, ExpressionLimit) and "process was ended" in str(answer):
            limited += 1
            assert turns > begun, f"the event loop stood still: {source[:80]}"
    assert await suspension.run(evaluated, evaluator, probe, here) == expected
    counter.cancel()
    assert limited > 0, "no bomb reached the limit of the kernel"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KB
    return found


async def test_javascript(children: Children) -> None:
    evaluator = JavaScriptEvaluator(limits=JsLimits(time=SHORT, memory=16 * 1024 * 1024), isolation=children)
    found = await survives(evaluator, bombs_javascript.BOMBS, "1 + 1", 2)
    assert len(found) >= 100


async def test_liquid(children: Children) -> None:
    evaluator = LiquidEvaluator(time=SHORT, isolation=children)
    found = await survives(evaluator, bombs_liquid.BOMBS, "{{ 'a' | upcase }}", "A")
    assert len(found) >= 100


def test_python(root: Path) -> None:
    program = [sys.executable, "-m", "tests.support.bombs.run_python_bombs"]
    done = subprocess.run(program, cwd=root, capture_output=True, text=True, check=False)
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    every = [*bombs_python.EXPRESSIONS, *bombs_python.SCRIPTS]
    assert len(every) >= 100
    assert len(ended) == len(every), f"held its process: {every[len(ended)]}\n{done.stderr[-2000:]}"
