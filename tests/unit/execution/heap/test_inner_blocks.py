"""Blocks inside small values: uses that touch one item, and programs that reach a block in many ways."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.execution.heap.inner_blocks import is_field, objects_in
from tests.support.tracked_heap import NEXT, Frame, Part, ValuesLost, drawing, small_pages


@dataclass
class Watched:
    orders: list[Any]

    @property
    def first(self) -> Any:
        return self.orders[0]

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@dataclass(slots=True)
class Slotted:
    orders: list[Any] = field(default_factory=list)
    total: int = 0


@pytest.mark.parametrize(
    ("cls", "name", "expected"),
    [
        (Part, "l", True),
        (Slotted, "orders", True),
        (Slotted, "total", True),
        (Slotted, "__eq__", False),
        (Watched, "first", False),
        (Watched, "orders", False),
        (list, "append", False),
    ],
)
def test_a_field_is_read_without_code_of_users(cls: type, name: str, expected: bool) -> None:
    assert is_field(cls, name) is expected


def test_objects_are_found_in_small_values_only() -> None:
    inner: list[int] = []
    found = objects_in({"part": Part(1, [inner]), "at": datetime(2026, 1, 1, tzinfo=UTC)})
    assert found is not None
    assert any(item is inner for item in found)
    assert objects_in([iter([])]) is None
    assert objects_in(list(range(5_000))) is None


NAMES = ("a", "b", "c", "x", "y", "it", "m")
FIRST = (
    "c = {'in': [{'n': i, 'l': [i]} for i in range(6)], 'd': {f'k{i}': {'n': i, 'l': []} for i in range(6)}, 'n': 1}",
    "c = Part({f'k{i}': i for i in range(20)}, [{'n': i, 'l': [i]} for i in range(6)])",
    "a = list(range(30)); c = {'in': a, 'd': {'in': a}, 'n': [1]}; b = c['d']",
    "c = {'in': [Part(i, [i]) for i in range(6)], 'd': {}}; c['d'] = {q.n: q for q in c['in']}; y = Part(1, c)",
    "c = [list(range(30)), {'in': list(range(30))}]; x = c[1]; it = iter(c)",
)
VALUES = st.sampled_from(["1", "'text'", "{'n': 1, 'l': []}", "x", "y", "c", "[x]", "{'in': y, 'd': 1}", "a"])
KEYS = st.sampled_from(["0", "1", "2", "-1"])
NAMED = st.sampled_from(["'k1'", "'k2'", "'new'", "1", "2"])
TEXTS = (
    "c['in'].append({2})", "c['in'][{0}] = {2}", "c['d'][{1}] = {2}", "c['in'] += [{2}]", "c['in'].pop()",
    "c['d'].pop({1}, None)",
    "x = c['in']", "x.append({2})", "y = c['d']", "y[{1}] = {2}", "x = c['in'][{0}]", "x['n'] = {2}", "x['l'].append({2})",
    "c.l.append({2})", "c.n[{1}] = {2}", "c.l += [{2}]", "x = c.l", "y = c.n", "c.l[{0}]['n'] = {2}", "m = c['in'].append",
    "m = c.l.append", "m({2})", "a = c", "a['in'].append({2})", "a.l.append({2})", "c['n'] = {2}", "c.n = {2}", "c['in'] = {2}",
    "it = iter([c])", "it = iter(c)", NEXT, "it = zip([c], [1])", "x[0]['in'].append({2})", "x = [c]", "x[0].l.append({2})",
    "x = (c, 1)", "x[0]['in'][{0}] = {2}", "b = c.get('d')", "b['in'].append({2})", "b[{1}] = {2}", "c[0].append({2})",
    "c[1]['in'].append({2})", "c[{0}] += [{2}]", "x = c.copy()", "x['in'].pop()", "del c['n']", "c.pop('n', None)", "c = None",
    "x = [q for q in c['in']]", "x = max([c['in']], key=len)", "(lambda: c['in'].append({2}))()", "y.l['in'].append({2})",
    "y.l['d'][{1}]['n'] = {2}", "c['in'].sort(key=str)", "c.l.reverse()", "x = y = None", "(c['in'] or a).append({2})",
    "c['in'].extend([{2}])", "c['d'].update({{'new': {2}}})", "c['d'] |= {{'new': {2}}}", "x, y = c['in'], c['d']",
    "x = c['in'][1:3]",
    "c['in'][c['in'].append({2}) or 0] = {2}", "c['d'].setdefault({1}, []).append({2})", "setattr(c, 'n', {2})",
    "vars(c)['l'].append({2})",
)  # fmt: skip
STATEMENTS = st.builds(str.format, st.sampled_from(TEXTS), KEYS, NAMED, VALUES)
PROGRAMS = st.lists(st.tuples(st.integers(0, 5), st.lists(STATEMENTS, max_size=3)), min_size=1, max_size=12)


@given(st.sampled_from(FIRST), PROGRAMS)
def test_a_block_inside_a_small_value_is_stored_as_if_it_were_written_whole(
    first: str, program: list[tuple[int, list[str]]]
) -> None:
    with small_pages():
        frame = Frame(NAMES)
        memory = frame.shape.open(None)
        for luck, burst in [(1, [first]), *program]:
            for statement in burst:
                assert frame.run(statement, frame.scope) == frame.run(statement, memory), statement
            try:
                frame.commit()
            except ValuesLost:  # a tuple contains itself
                return
            assert drawing(frame.stored_scope()) == drawing(memory)
            frame.read(cold=luck == 0)
            assert drawing(frame.scope) == drawing(memory)
