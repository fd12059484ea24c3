"""Workflows as plain Python functions: compile time, and run time against the same workflow as objects."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from benchmarks import holdfast_engine
from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import Turn, repeated, run_rounds
from holdfast import Holdfast, Workflow, expr
from holdfast.activities import ForEach, If, Sequence, SetOutput, SetVariable
from holdfast.authoring.compiler import compile_function
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, run_segment

_NAME = "bench_program"
LINES = 200
ITEMS = 100
MILLISECONDS = 1_000

FIGURES = (
    Figure("python.compile_200_ms", "ms to compile a workflow function of 200 lines", 50),
    Figure("python.compiled_ratio", "time of a compiled workflow over that of the same workflow as objects", 1.3),
)

_HEAD = """
from dataclasses import dataclass
from datetime import timedelta

from holdfast import activity, gather, sleep, wait_for, workflow


@dataclass
class Approval:
    approved: bool


@activity
async def reserve(line: str, count: int = 1) -> str:
    return line


@activity(pure=True)
async def raised(level: int) -> int:
    return level + 1


@workflow
async def looped(items: list[int]) -> int:
    total = 0
    for item in items:
        level = await raised(item)
        if level % 2:
            total = await raised(total)
    return total


@workflow
async def long(order: str, lines: list[str], limit: int) -> object:
    found: dict[str, object] = {}
"""
_PART = """
    # part {n}: an order's line
    names{n} = [line.strip() for line in lines if line]
    if len(names{n}) > limit:
        answer{n} = await wait_for(Approval, key=order, timeout=timedelta(days=3), default=Approval(False))
        if not answer{n}.approved:
            found["refused {n}"] = names{n}
    total{n} = sum(len(name) for name in names{n})
    try:
        for number, name in enumerate(names{n}):
            kept = await reserve(name, count=number + 1)
            if kept == "nothing":
                continue
            found[f"{{name}} {n}"] = kept
            total{n} += await raised(total{n})
    except ValueError as error:
        found["error {n}"] = str(error)
    finally:
        found["total {n}"] = total{n}
    found["both {n}"] = await gather(reserve("a"), reserve(order))
"""


def source() -> str:
    """A module with a function of `LINES` lines."""
    parts = (LINES - 3) // (_PART.count("\n") - 1)
    body = "".join(_PART.format(n=n).lstrip("\n") for n in range(parts))
    missing = LINES - 3 - body.count("\n")
    return _HEAD + body + "".join(f"    found['rest {n}'] = limit\n" for n in range(missing)) + "    return found\n"


@contextmanager
def _program() -> Iterator[ModuleType]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{_NAME}.py"
        file.write_text(source(), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(_NAME, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = module  # names of the program are resolved through its module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[_NAME]


def measure(effort: Effort) -> Mapping[str, float]:
    holdfast = holdfast_engine.engine()
    with _program() as program:
        long = program.long.function
        compiling = run_rounds({"compile": repeated(lambda: compile_function(long), times=1)}, max(5, effort.rounds))
        best = run_rounds(_contenders(holdfast, program), effort.rounds)
    holdfast.close()
    return {
        "python.compile_200_ms": compiling["compile"] * MILLISECONDS,
        "python.compiled_ratio": best["compiled"] / best["objects"],
    }


def _bursts(holdfast: Holdfast, workflow: Workflow) -> Callable[[], LiveInstance]:
    plan, services = holdfast.plan(workflow), holdfast.services

    def burst() -> LiveInstance:
        inputs = {"items": list(range(ITEMS))}
        live = delivery.start(plan, id="bench", now=time.time_ns, services=services, inputs=inputs)
        while run_segment(live, holdfast_engine.LIMITS) is not Ended.IDLE:
            pass
        return live

    return burst


def _contenders(holdfast: Holdfast, program: ModuleType) -> dict[str, Turn]:
    compiled, built = _bursts(holdfast, program.looped), _bursts(holdfast, _as_objects(program))
    ends = [live.root.scope[live.root.scope[1].outputs["result"]] for live in (compiled(), built())]
    assert ends == [ITEMS // 2, ITEMS // 2]
    return {"compiled": repeated(compiled, times=5), "objects": repeated(built, times=5)}


def _as_objects(program: ModuleType) -> Workflow:
    """`looped` as objects."""
    raised = program.raised
    step = Sequence(
        raised.bind(level=expr("item"), result="level"),
        If(expr("level % 2 == 1"), then=raised.bind(level=expr("total"), result="total")),
    )
    return Workflow(
        Sequence(
            SetVariable("total", 0),
            ForEach(items=expr("items"), body=step, item="item"),
            SetOutput("result", expr("total")),
        ),
        inputs={"items": list},
        outputs={"result": int},
        variables={"total": 0, "level": 0},
    )


GROUP = Group("plain Python", FIGURES, measure)
