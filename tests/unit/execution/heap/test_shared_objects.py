"""Shared objects: an object in several large blocks is stored once, and a commit writes only what a burst touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given, strategies as st

from holdfast.execution.heap.item_codec import CELLS, ItemCodec
from tests.support.tracked_heap import NEXT, Frame, drawing, small_pages

NAMES = ("a", "b", "c", "x", "y", "it")
RECORDS = "a = [{'n': i, 'l': 'text' * 9} for i in range(3000)]; b = {q['n']: q for q in a}"
PARTS = "a = [Part(i, ['text' * 9]) for i in range(3000)]; b = {q.n: q for q in a}"
CALLS = "a = [{'n': i, 'l': 'text' * 9} for i in range(3000)]; c = [(0, {'order': q}) for q in a]"

FIRST = (
    "a = [{'n': i, 'l': [i]} for i in range(6)]; b = {f'k{q[\"n\"]}': q for q in a}",
    "a = [{'n': i, 'l': [i]} for i in range(9)]; b = {f'k{q[\"n\"]}': q for q in a[2:]}; c = [(0, {'n': q}) for q in a]",
    "y = {'n': 1, 'l': []}; a = [{'n': y, 'l': [i]} for i in range(6)]; b = {f'k{i}': q for i, q in enumerate(a)}",
    "b = {f'k{i}': {'n': i, 'l': [i]} for i in range(6)}; a = [{'n': q, 'l': q['l']} for q in b.values()]",
    "a = [Part(i, [i]) for i in range(6)]; b = {f'k{q.n}': q for q in a}; c = [(0, {'n': q}) for q in a]",
)
VALUES = st.sampled_from(["1", "'text'", "{'n': 1, 'l': []}", "x", "y", "{'n': x, 'l': []}", "Part(1, [])"])
KEYS = st.sampled_from(["0", "1", "2", "-1"])
NAMED = st.sampled_from(["'k1'", "'k2'", "'k3'", "'new'", "'other'"])
TEXTS = (
    "a.append({2})\nb[{1}] = a[-1]", "b[{1}] = a[{0}]", "a[{0}]['n'] = {2}", "b[{1}]['n'] = {2}", "b[{1}]['l'].append({2})",
    "x = a[{0}]", "x = b[{1}]", "x['n'] = {2}", "x.n = {2}", "y = x['l']", "y.append({2})", "x = None", "y = None", "a.pop()",
    "del b[{1}]", "a[{0}] = {2}", "a[{0}]['n'] = b[{1}]", "a[{0}] = b[{1}]", "c[{0}][1]['n']['n'] = {2}", "x = c[{0}]",
    "c.append((0, {{'n': a[{0}]}}))", "c.pop()", "c = None", "y = a[{0}]['l']", "x = {2}\na.append(x)\nb[{1}] = x\nx = None",
    "it = iter(a)", NEXT, "a[{0}]['l'] = a[1]['l']", "y = (1, a[{0}])", "a.reverse()", "a[{0}]['n'] = a[1]", "y = [a[{0}], x]",
)  # fmt: skip
STATEMENTS = st.builds(str.format, st.sampled_from(TEXTS), KEYS, NAMED, VALUES)
PROGRAMS = st.lists(st.tuples(st.integers(0, 5), st.lists(STATEMENTS, max_size=3)), min_size=1, max_size=12)


@given(st.sampled_from(FIRST), PROGRAMS)
def test_shared_objects_stay_shared_in_memory_and_in_the_store(
    first: str, program: list[tuple[int, list[str]]]
) -> None:
    with small_pages():
        frame = Frame(NAMES)
        memory = frame.shape.open(None)
        for luck, burst in [(1, [first]), *program]:
            for statement in burst:
                assert frame.run(statement, frame.scope) == frame.run(statement, memory), statement
            frame.commit()
            assert drawing(frame.stored_scope()) == drawing(memory)
            frame.read(cold=luck == 0)
            assert drawing(frame.scope) == drawing(memory)


@contextmanager
def packed_items() -> Iterator[list[str]]:
    """Kinds of the items that are packed."""
    found: list[str] = []
    pack = ItemCodec.pack

    def noted(self: ItemCodec, kind: str, item: object) -> object:
        found.append(kind)
        return pack(self, kind, item)

    with mock.patch.object(ItemCodec, "pack", noted):
        yield found


@pytest.mark.parametrize(
    ("first", "step"),
    [
        (RECORDS, "a.append({'n': len(a), 'l': 'text'}); b[len(a)] = a[-1]"),
        (RECORDS, "b[17]['n'] += 1"),
        (RECORDS, "x = a[17]; x['n'] = b[18]['n']; x = None"),
        (RECORDS, "x = b[len(b) - 1]; b[len(b)] = x"),
        (RECORDS, "a.pop(); del b[len(a)]"),
        (RECORDS, "y = 1"),
        (PARTS, "a.append(Part(len(a), [])); b[len(a)] = a[-1]"),
        (PARTS, "y = a[17].l; y.append(1)"),
        (PARTS, "y = b[17].l"),
        (CALLS, "x = c[17][1]['order']; x['n'] += 1"),
        ("a = {i: Part(i, ['text' * 9]) for i in range(3000)}", "a[17].n = 5; a[len(a)] = Part(1, [])"),
        ("x = {'n': 1}; a = [{'n': x, 'l': 'text' * 9} for i in range(3000)]", "a.append({'n': a[-1]['n']})"),
    ],
)
def test_a_commit_of_shared_objects_packs_only_what_a_burst_touched(first: str, step: str) -> None:
    frame = Frame(NAMES)
    assert frame.run(first, frame.scope) is None
    frame.commit()
    for number in range(12):
        with packed_items() as packed:
            frame.read()
            assert frame.run(step, frame.scope) is None
            frame.commit()
        assert frame.book is not None
        assert frame.book.tracks
        if number > 1:  # the first burst may write the blocks again
            assert len(packed) < 700, len(packed)
            assert frame.written + len(frame.state) < 30_000


def test_a_cell_that_nothing_refers_to_is_removed() -> None:
    frame = Frame(NAMES)
    frame.run(RECORDS, frame.scope)
    frame.commit()
    for step in ("a.pop(); del b[2999]", "del b[2998]; a.pop()", "x = a.pop(); del b[len(a)]", "x = None"):
        frame.read()
        assert frame.run(step, frame.scope) is None
        frame.commit()
    assert frame.book is not None
    assert frame.book.cells is not None
    assert sorted(frame.book.cells.pool.value) == list(range(1, 2998))
    frame.read()
    frame.run("b = None", frame.scope)
    frame.commit()
    assert next(block.kind for block in frame.book.tracked()) == CELLS


def test_objects_that_code_held_before_a_commit_are_not_shared_with_the_blocks_after_it() -> None:
    """An effect that runs after the commit may change its arguments (rule M17)."""
    frame = Frame(NAMES)
    frame.run(RECORDS, frame.scope)
    frame.commit()
    frame.read()
    frame.run("x = b[3]; a.append({'n': 'new'}); b['new'] = a[-1]", frame.scope)
    names = frame.shape.names
    held, added = frame.scope[names["x"]], frame.scope[names["b"]]["new"]
    frame.commit()
    held["n"] = added["n"] = "changed by an effect"
    frame.read()
    a, b, x = (frame.scope[names[name]] for name in "abx")
    assert (a[3]["n"], a[3000]["n"]) == (3, "new")
    assert x is a[3]
    assert b[3] is x
    assert a[3000] is b["new"]
