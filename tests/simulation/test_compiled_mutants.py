"""Does the comparison notice? One rule of the compiler or of its activities is broken at a time: some trap must differ."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.activities.code import flow
from holdfast.activities.code.attempt import AttemptNode
from holdfast.activities.code.loops import _Loop
from holdfast.authoring.compiler.expressions import Expressions
from holdfast.execution.heap.iterators import DictPosition
from holdfast.execution.heap.object_writer import ObjectWriter
from holdfast.testing.clock import VirtualClock
from tests.support.programs.comparison import compare, load
from tests.support.programs.namespace import TYPES

HEAD = """\
from tests.support.programs.namespace import *
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import gather

@workflow
async def main(a, xs):
"""

Break = Callable[[pytest.MonkeyPatch], None]


def no_spill(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Expressions, "spill", lambda self, node, out: node)


def walrus_is_stable(patch: pytest.MonkeyPatch) -> None:
    is_stable = Expressions.is_stable

    def stable(self: Any, node: Any) -> bool:
        self.unit.walrus = set()
        return is_stable(self, node)

    patch.setattr(Expressions, "is_stable", stable)


def unbound_is_stable(patch: pytest.MonkeyPatch) -> None:
    is_stable = Expressions.is_stable
    patch.setattr(Expressions, "is_stable", lambda self, node: hasattr(node, "id") or is_stable(self, node))


def no_identity(patch: pytest.MonkeyPatch) -> None:
    count_in = ObjectWriter.count_in

    def counted(self: Any, value: Any) -> Any:
        found = count_in(self, value)
        self.counts = dict.fromkeys(self.counts, 1)
        return found

    patch.setattr(ObjectWriter, "count_in", counted)


def name_is_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AttemptNode, "forget", lambda self, activation: None)


def nothing_is_handled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(flow, "handled", lambda owner: None)


def jumps_do_not_wait(patch: pytest.MonkeyPatch) -> None:
    def stop(self: Any, live: Any, activation: Any, flag: int) -> bool:
        activation.flags |= flag
        return False

    patch.setattr(AttemptNode, "stop", stop)


def no_else(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Loop, "end", lambda self, live, owner: live.complete(owner))


def break_runs_else(patch: pytest.MonkeyPatch) -> None:
    def pass_done(self: Any, live: Any, owner: Any, scope: Any, outcome: Any) -> None:
        flags, owner.flags = owner.flags, 0
        (self.end if flags & 1 else self.next_pass)(live, owner)

    patch.setattr(_Loop, "pass_done", pass_done)


def dicts_start_again(patch: pytest.MonkeyPatch) -> None:
    made = DictPosition.__init__

    def init(self: Any, source: Any, kind: str, consumed: int, left: int, size: int) -> None:
        made(self, source, kind, 0, left, size)

    patch.setattr(DictPosition, "__init__", init)


def no_lines(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("holdfast.activities.code.function.complete_traceback", lambda *given: None)


MUTANTS: dict[Break, str] = {
    no_spill: "return see(1) + await act(see(2))",
    walrus_is_stable: "b = a + await act((a := 9))\nreturn a, b",
    unbound_is_stable: "if a > 100: z = 1\nreturn z + await act(1)",
    no_identity: "ys = xs\nawait act(1)\nys.append(1)\nreturn xs is ys",
    name_is_kept: "try: raise ValueError(1)\nexcept ValueError as e: await act(1)\nreturn e",
    nothing_is_handled: "try: raise ValueError(1)\nexcept ValueError:\n    await act(1)\n    raise KeyError(2)",
    jumps_do_not_wait: "for x in xs:\n    try: return see(x)\n    finally:\n        await act(x)\n        if x < 3: continue",
    no_else: "for x in xs: await act(x)\nelse: see('else')",
    break_runs_else: "for x in xs:\n    await act(x)\n    break\nelse: see('else')",
    dicts_start_again: "d = {'a': 1, 'b': 2}\nfor k in d: await act(k)",
    no_lines: "await act(1)\nx = 1\nreturn await fail(4)",
}


def outcome(body: str, folder: Path, name: str) -> str:
    engine = Holdfast(clock=VirtualClock(), entry_points=False, types=list(TYPES))
    try:
        module = load(HEAD + textwrap.indent(body, "    ") + "\n", folder, name)
        return compare(engine, module, 2, [1, 2, 3])[0]
    finally:
        engine.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_rule_is_noticed(mutant: Break, tmp_path: Path) -> None:
    body = MUTANTS[mutant]
    name = mutant.__name__

    assert outcome(body, tmp_path, f"whole_{name}") == "agrees"
    with pytest.MonkeyPatch.context() as patch:
        mutant(patch)
        try:
            found = outcome(body, tmp_path, f"broken_{name}")
        except (AttributeError, KeyError, RecursionError) as error:
            found = repr(error)

    assert found != "agrees"
