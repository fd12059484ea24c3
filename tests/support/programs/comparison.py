"""Comparison of two runs of a program: as a plain coroutine, and compiled, with its state encoded and decoded at each await."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from holdfast import Holdfast
from holdfast.activities.code.flow import attempt_of
from holdfast.activities.code.function import FunctionNode
from holdfast.errors import ValueRefused
from holdfast.execution import delivery, faults, snapshot
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectFailure, Record
from holdfast.execution.segment import Limits, run_segment
from tests.support.programs import namespace

NAMES = ("main", "sub")
CODE = (ModuleType, type, FunctionType, BuiltinFunctionType)


class Run:
    """How a run ended: what it gave or raised, what it called, what its locals were."""

    def __init__(self, kind: str, value: Any, log: list[str], final: dict[str, Any] | None, awaits: int = 0) -> None:
        # Whatever a `finally` makes of it: a program that has made enough calls is not followed further.
        self.kind = "exhausted" if len(log) > namespace.MOST_CALLS else kind
        self.value = value
        self.log = log
        self.final = final
        self.awaits = awaits

    def facts(self, file: str) -> dict[str, Any]:
        final = self.final if self.kind != "exhausted" else None
        if final is not None:
            final = {name: repr(item) if isinstance(item, CODE) else item for name, item in final.items()}
        return {
            "kind": self.kind,
            "log": self.log[: namespace.MOST_CALLS],
            "locals": None if final is None else sorted(final),
            "values": namespace.shown(
                self.value if self.kind == "value" else None, final and dict(sorted(final.items()))
            ),
            "error": chain(self.value) if self.kind == "error" else None,
            "lines": lines_of(self.value, file) if self.kind == "error" else None,
        }


def load(text: str, folder: Path, name: str) -> ModuleType:
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


async def one_by_one(*calls: Any) -> list[Any]:
    return [await call for call in calls]


def run_plain(module: ModuleType, *arguments: Any) -> Run:
    namespace.LOG.clear()
    final: dict[str, Any] = {}
    function = module.main.function
    code = function.__code__

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            final["found"] = dict(frame.f_locals)

    gather, module.gather = module.gather, one_by_one  # type: ignore[attr-defined]  # there is no event loop here
    coroutine = function(*arguments)
    sys.setprofile(watch)
    try:
        try:
            coroutine.send(None)
            raise AssertionError("it waits for something")
        finally:
            sys.setprofile(None)
            module.gather = gather  # type: ignore[attr-defined]
    except StopIteration as end:
        return Run("value", end.value, list(namespace.LOG), final.get("found"))
    except namespace.Exhausted:
        return Run("exhausted", None, list(namespace.LOG), None)
    except Exception as error:  # noqa: BLE001 # what the program raises is what is compared
        return Run("error", error, list(namespace.LOG), final.get("found"))


@contextmanager
def watching(seen: dict[str, Any]) -> Iterator[None]:
    """Keep the uncaught exception, and the locals of the outermost function."""
    incident_of, body_done = faults.incident_of, FunctionNode.body_done

    def keep_error(live: Any, activation: Any, error: BaseException) -> Any:
        seen["error"] = error
        return incident_of(live, activation, error)

    def keep_locals(self: Any, live: Any, owner: Any, scope: Any, outcome: Any) -> None:
        seen["scope"] = owner.scope
        body_done(self, live, owner, scope, outcome)

    faults.incident_of, FunctionNode.body_done = keep_error, keep_locals  # type: ignore[method-assign]
    try:
        yield
    finally:
        faults.incident_of, FunctionNode.body_done = incident_of, body_done  # type: ignore[method-assign]


Carry = Callable[[LiveInstance, Holdfast], LiveInstance]
"""What an instance goes through at every await."""


def through_json(live: LiveInstance, engine: Holdfast) -> LiveInstance:
    text = json.dumps(snapshot.dump(live))
    return snapshot.load(json.loads(text), live.plan, engine.clock.now_ns, engine.services)


def run_compiled(engine: Holdfast, module: ModuleType, *arguments: Any, carry: Carry = through_json) -> Run:
    namespace.LOG.clear()
    seen: dict[str, Any] = {}
    awaits = 0
    inputs = dict(zip(("a", "xs"), arguments, strict=True))
    with watching(seen):
        plan = engine.plan(module.main)
        live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs=inputs)
        try:
            run_segment(live, Limits(activities=10**9, nanoseconds=10**18))
            while live.effects:
                awaits += 1
                live = carry(live, engine)
                _finish_one(live, plan)
                run_segment(live, Limits(activities=10**9, nanoseconds=10**18))
        except namespace.Exhausted:
            return Run("exhausted", None, list(namespace.LOG), None, awaits)
    if "error" in seen:
        _leave_handlers(live.root)
        frames = [item.scope for item in live.root.descendants() if isinstance(item.scope[1], FrameShape)]
        return Run("error", seen["error"], list(namespace.LOG), _locals(frames[0]), awaits)
    result = live.root.scope[live.root.scope[1].outputs["result"]]
    return Run("value", result, list(namespace.LOG), _locals(seen["scope"]), awaits)


def _leave_handlers(root: Any) -> None:
    """An instance that has failed still stands in its handlers, so that it can be retried; Python has left them."""
    for item in root.descendants():
        attempt = attempt_of(item)
        if attempt is not None:
            attempt.forget(item)


def _finish_one(live: Any, plan: Any) -> None:
    number = min(live.effects)
    request = live.effects[number]
    function = plan.by_key[request.activity_id].effect.function
    delivery.finish_effect(live, number, request.attempt, _called(function, request.inputs))


def _called(function: Any, inputs: dict[str, Any]) -> Record | EffectFailure:
    try:
        function(**inputs).send(None)
    except StopIteration as end:
        return Record(outputs={"result": end.value})
    except Exception as error:  # noqa: BLE001 # as above
        return EffectFailure(type=type(error).__name__, message=str(error), error=error)
    raise AssertionError("it waits for something")


def _locals(scope: Any) -> dict[str, Any]:
    names = scope[1].names
    return {
        name: scope[index]
        for name, index in names.items()
        if scope[index] is not UNSET and not name.startswith(("~", "__"))
    }


def chain(error: BaseException | None, seen: list[BaseException] | None = None) -> Any:
    """An exception with its causes and contexts, and which of them are the same object."""
    if error is None:
        return None
    seen = [] if seen is None else seen
    for number, other in enumerate(seen):
        if other is error:
            return f"the same as {number}"
    seen.append(error)
    cause, context = chain(error.__cause__, seen), chain(error.__context__, seen)
    return [type(error).__name__, str(error), vars(error), cause, context, error.__suppress_context__]


def lines_of(error: BaseException, file: str) -> list[tuple[str, int]]:
    entries = traceback.walk_tb(error.__traceback__)
    return [
        (frame.f_code.co_name, line)
        for frame, line in entries
        if frame.f_code.co_filename == file and frame.f_code.co_name in NAMES
    ]


def compare(
    engine: Holdfast, module: ModuleType, *arguments: Any, carry: Carry = through_json
) -> tuple[str, Run | None]:
    """`agrees`, `refused` (loud: a value that cannot be kept), or what differs."""
    file = str(module.__file__)
    plain = run_plain(module, *json.loads(json.dumps(arguments)))
    try:
        compiled = run_compiled(engine, module, *json.loads(json.dumps(arguments)), carry=carry)
    except ValueRefused as error:
        return f"refused: {error}", None
    if compiled.kind == "error" and isinstance(compiled.value, ValueRefused):
        return "refused", compiled
    one, other = plain.facts(file), compiled.facts(file)
    different = [
        f"{name}:\n  plain    {one[name]}\n  compiled {other[name]}" for name in one if one[name] != other[name]
    ]
    return ("\n".join(different) or "agrees"), compiled
