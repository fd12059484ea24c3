"""Random workflow functions: compiled, with export and import at every await, they do what plain Python does.

Compared are the result or the exception with its whole chain, every call of an activity or helper in its order with its
arguments, the locals at the end with who is who among their objects, and the lines of the traceback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.errors import WorkflowRefused
from holdfast.execution import lazy_values, pages
from holdfast.execution.live import LiveInstance
from holdfast.model.values import trees
from holdfast.runtime.commits import large_values
from holdfast.runtime.commits.state_codec import decode_state, encode_state
from holdfast.testing.clock import VirtualClock
from tests.support.programs.comparison import compare, load
from tests.support.programs.generator import program
from tests.support.programs.namespace import TYPES

GROUPS, EACH = 8, int(os.environ.get("HOLDFAST_TEST_COMPILED_PROGRAMS", "240")) // 8


@pytest.fixture
def fresh_engine() -> Iterator[Holdfast]:
    made = Holdfast(clock=VirtualClock(), entry_points=False, types=list(TYPES))
    yield made
    made.close()


@pytest.mark.parametrize("group", range(GROUPS))
def test_compiled_programs_do_what_plain_python_does(group: int, fresh_engine: Holdfast, tmp_path: Path) -> None:
    ran = awaits = 0
    for seed in range(group * EACH, (group + 1) * EACH):
        text = program(seed)
        try:
            module = load(text, tmp_path, f"generated_{seed}")
            found, run = compare(fresh_engine, module, 2 + seed % 3, [1, 2, 3][: 1 + seed % 3])
        except WorkflowRefused:
            continue
        assert found == "agrees" or found.startswith("refused"), f"seed {seed}\n{text}\n{found}"
        ran += found == "agrees"
        awaits += run.awaits if run is not None else 0

    assert ran > EACH * 0.8
    assert awaits > EACH


def through_a_store(live: LiveInstance, engine: Holdfast) -> LiveInstance:
    packed = encode_state(live)
    return decode_state(packed.state, live.plan, engine.clock.now_ns, engine.services, packed.values)


def test_so_they_do_where_everything_is_large(
    fresh_engine: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a store keeps them, with limits so low that every variable is a block or a value of its own."""
    for module in (pages, lazy_values, large_values):
        monkeypatch.setattr(module, "PAGE", 2)
    monkeypatch.setattr(large_values, "INLINE_BYTES_MAX", 80)
    monkeypatch.setattr(large_values, "TAIL_BYTES_MAX", 4)
    monkeypatch.setattr(trees, "MANY", 1)
    ran = 0
    for seed in range(10_000, 10_000 + EACH):
        text = program(seed)
        try:
            module = load(text, tmp_path, f"generated_{seed}")
            found, _ = compare(fresh_engine, module, 3, [1, 2, 3], carry=through_a_store)
        except WorkflowRefused:
            continue
        assert found == "agrees" or found.startswith("refused"), f"seed {seed}\n{text}\n{found}"
        ran += found == "agrees"

    assert ran > EACH * 0.8
