"""Tracking: a commit of the touched items stores the same frame as a commit of everything."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, strategies as st

from holdfast.execution.heap.iterators import DictPosition
from tests.support.tracked_heap import NEXT, Frame, ValuesLost, drawing, small_pages

NAMES = ("a", "b", "c", "x", "y", "it", "m")

FIRST = (
    "a = [{'n': i, 'l': [i]} for i in range(9)]",
    "a = [{'n': i, 'l': [{'n': i}]} for i in range(14)]",
    "a = [Part(i, [i]) for i in range(8)]",
    "a = [{'n': datetime(2026, 1, i + 1, tzinfo=timezone.utc), 'l': []} for i in range(6)]",
    "b = {f'k{i}': {'n': i, 'l': []} for i in range(9)}",
    "b = {i: {'n': i, 'l': [i]} for i in range(9)}",
    "b = {f'k{i}': i for i in range(20)}",
    "c = list(range(40))",
    "c = [{'n': i, 'l': [i]} for i in range(5)]",
    "a = [{'n': i, 'l': [i]} for i in range(6)]; b = {f'k{q[\"n\"]}': q for q in a}",
    "a = [Part(i, [i]) for i in range(6)]; b = {q.n: q for q in a}; c = [(0, {'n': q}) for q in a]",
    "y = {'n': 1, 'l': []}; a = [{'n': i, 'l': y} for i in range(6)]; c = [{'n': q} for q in a]",
    "b = {i: Part(i, [i]) for i in range(9)}",
)
"""`a` is a list of records, `b` a dict, `c` another list."""

VALUES = st.sampled_from(["1", "2", "'text'", "{'n': 1, 'l': []}", "{'n': 2, 'l': [3]}", "x", "y", "{'n': x, 'l': []}"])
ODD_VALUES = st.sampled_from(
    ["a", "b", "c", "1 << 70", "'\\ud800'", "float('inf')", "Part(1, [])", "[1, {'n': 2}]", "(1, x)", "None", "c[0:2]"]
)
KEYS = st.sampled_from(["0", "1", "2", "3", "-1"])
NAMED = st.sampled_from(["'k1'", "'k2'", "'k3'", "'new'", "'other'", "1", "2", "20"])
TEXTS = (
    "a[{0}] = {2}", "a.append({2})", "x = a[{0}]", "x['n'] = {2}", "x['l'].append({2})", "y = x['l']", "y.append({2})",
    "a[{0}]['n'] = {2}", "a[{0}]['l'].append({2})", "a.pop()", "x = a.pop()", "a += [{2}]", "it = iter(a)", "x = next(it)",
    "m = a.append", "m({2})", "x = a[{0}]\nx['n'] = {2}\nx = None", "x = None", "y = None", "x = a[{0}]['l']", "del x",
    "x = a[{0}]\na[{0}] = None\nx['n'] = {2}", "a[{0}]['n'] += 1", "x.n = {2}", "x.l.append({2})", "y = x.l", "a[{0}].n = {2}",
    "b[{1}] = {2}", "b[{1}]['n'] = {2}", "x = b[{1}]", "b.pop({1}, None)", "x = b.pop({1})", "del b[{1}]",
    "b.setdefault({1}, {2})", "y = b.setdefault({1}, [])", "x = b.get({1})", "b[{1}] = b.pop({1})", "b[{1}] += 1",
    "b[{1}] = b.pop('k3', 5)\nb['k3'] = {2}", "b.get('other')\nb['new'] = 1\nb['other'] = 2",
    "c.append({2})", "c[{0}] = {2}", "c.pop()", "x = c[{0}]", "c.append(c.pop())", "c[{0}], c[1] = c[1], c[{0}]",
    "a[{0}] = a[1]", "c[{0}] = a[{0}]", "b[{1}] = a[{0}]", "a[{0}]['l'] = y", "c = a", "c = None", "c = {{'in': a}}",
    "c['in'].append({2})", "c['in'][{0}]['n'] = {2}", "c = [a[{0}], b]", "c[0]['n'] = {2}", "c[1]['new'] = {2}",
    "c = (1, a[{0}])", "c[1]['n'] = {2}", "c = [x, y]", "c[1].append({2})",
    "x = len(a)", "x = {0} in c", "x = not a", "if a: a.pop()", "x = a if b else None",
    "a.insert(0, {2})", "a.reverse()", "a.clear()", "b.update({{'new': {2}}})", "x = b.popitem()", "a[1:3] = [{2}]",
    "y = a[1:3]", "for y in a: y['n'] = {2}", "x = (lambda: a[{0}])()", "x = [q for q in a]", "a.sort(key=str)",
    "del a[{0}]", "a.pop({0})", "b.clear()", "it = None", "m = None", "m = b.get", "x = m({1})", "it = zip(a, c)",
    "it = enumerate(a)", "it = iter(x)",
    "b[{1}] = a[-1]", "a.append({2})\nb[{1}] = a[-1]", "x = {2}\na.append(x)\nb[{1}] = x\nx = None", "a[{0}]['n'] = b[{1}]",
    "a[{0}] = b[{1}]", "b[{1}]['l'] = a[{0}]['l']", "x = a[{0}]['l']\nc[{0}] = x", "c.append(b[{1}])",
    "c.append((0, {{'n': a[{0}]}}))",
    "x = c[{0}]", "x = a[{0}]\ny = x['l']", "del b[{1}]\na.pop()", "a.pop()['n'] = {2}", "c[{0}]['n'] = a[{0}]", "b = None",
    "c['in'] += [{2}]", "c['in'].append({2})", "c['in'][-1]", "x = c['in']", "y = c", "y['in'].append({2})", "x = [c]",
    "it = iter([c])",
    "x['in'].append({2})", "c = Part(a, b)", "c.n.append({2})", "c.l[{1}] = {2}", "y = c.n", "c.n += [{2}]", "x = c.get('in')",
    "x.append({2})", "y.append({2})", "c = [a, a]", "c[0].append({2})", "c = a", "m = c['in'].append", "m = c.n.append",
    "c = {{'in': c}}",
    "c['in']['in'].append({2})", "c['in']['in'][{0}]['n'] = {2}", "x = c['in'].pop()", "str(c)", "x = (lambda: c['in'])()",
    "x = [c['in']]", "x[0].append({2})", "for x in [c]: x['in'].append({2})", "c['in'][{0}] += 1", "c.l.pop({1}, None)",
    "a[{0}]['l'] = a[1]", "a[{0}].l = a[1].l", "c[-1][1]['n']['n'] = {2}", "b[{1}]['n'] = b",
)  # fmt: skip


def statements(texts: list[str]) -> st.SearchStrategy[str]:
    """Statements of a few kinds: programs of all kinds seldom use twice what they did once."""
    usual = st.builds(str.format, st.sampled_from([*texts, NEXT]), KEYS, NAMED, VALUES)
    return st.one_of(
        usual, usual, usual, st.builds(str.format, st.sampled_from(TEXTS), KEYS, NAMED, VALUES | ODD_VALUES)
    )


def bursts(texts: list[str]) -> st.SearchStrategy[list[tuple[int, list[str]]]]:
    return st.lists(st.tuples(st.integers(0, 5), st.lists(statements(texts), max_size=3)), min_size=1, max_size=10)


PROGRAMS = st.lists(st.sampled_from(TEXTS), min_size=3, max_size=8, unique=True).flatmap(bursts)


@given(st.lists(st.sampled_from(FIRST), min_size=2, max_size=3), PROGRAMS)
def test_a_tracked_frame_is_stored_as_if_it_were_written_whole(
    first: list[str], program: list[tuple[int, list[str]]]
) -> None:
    with small_pages():
        frame = Frame(NAMES)
        memory = frame.shape.open(None)
        for luck, burst in [(1, first), *program]:
            for statement in burst:
                assert frame.run(statement, frame.scope) == frame.run(statement, memory), statement
            try:
                frame.commit()
            except ValuesLost:  # the keys of a dict were replaced in a loop over it
                return
            assert drawing(frame.stored_scope()) == drawing(memory)
            frame.read(cold=luck == 0)
            assert drawing(frame.scope) == drawing(memory)


@pytest.mark.parametrize(
    ("first", "step"),
    [
        ("a = [{'n': i, 'l': 'text' * 9} for i in range(5000)]", "x = a[17]"),
        ("a = [{'n': i, 'l': 'text' * 9} for i in range(5000)]", "a.append({'n': 1})"),
        ("a = [{'n': i, 'l': 'text' * 9} for i in range(5000)]", "a[7]['n'] = a[8]['n'] + 1"),
        ("a = [{'n': i, 'l': 'text' * 9} for i in range(5000)]; m = a.append", "m(1)"),
        ("a = [{'n': i, 'l': 'text' * 9} for i in range(5000)]; it = iter(a)", "b = 1"),
        ("a = {f'k{i}': i for i in range(5000)}", "a[f'new {len(a)}'] = 1"),
        ("a = {i: {'n': i} for i in range(5000)}", "a[len(a)] = {'n': 1}"),
        ("a = {f'k{i}': i for i in range(5000)}", "x = a.get('k7') if 'k8' in a and len(a) and a is not None else 1"),
        ("a = list(range(5000))", "x = a.pop()"),
        ("a = list(range(5000)); b = {'small': 1}", "b['small'] += 1"),
        ("b = {'in': list(range(5000)), 'n': 0}", "b['in'].append(1); b['n'] += 1"),
        ("b = {'in': list(range(5000)), 'n': 0}", "b['in'] += [1]; x = len(b['in'])"),
        ("b = {'in': {'in': [{'n': i} for i in range(5000)]}}", "b['in']['in'][7]['n'] += 1; x = b['in']['in'][8]"),
        (
            "b = {'in': {i: i for i in range(5000)}}",
            "b['in'][len(b['in'])] = 1; del b['in'][next(iter([len(b['in']) - 1]))]",
        ),
        ("b = Part(1, list(range(5000)))", "b.l.append(1); b.n += 1"),
        ("b = Part(1, {i: Part(i, []) for i in range(5000)})", "b.l[7].n += 1; b.l[8].l += [1]"),
        ("b = Part(1, list(range(5000)))", "b.l += [2]; c = b.l; c.append(1); m = c.append; m(3); c = m = None"),
        ("b = Part(1, Part(2, list(range(5000)))); y = {'n': 1}", "b.l.l.pop(); y['n'] = str(y)"),
        ("a = list(range(5000)); b = a", "c = a; c.append(1); b.append(2)"),
    ],
)
def test_a_commit_writes_only_what_a_burst_touched(first: str, step: str) -> None:
    frame = Frame(NAMES)
    assert frame.run(first, frame.scope) is None
    frame.commit()
    whole = frame.written
    assert whole > 10_000
    for _ in range(10):
        frame.read()
        assert frame.run(step, frame.scope) is None
        frame.commit()
        assert frame.book is not None
        assert not any(block.whole for block in frame.book.blocks if block is not None)
        assert frame.written + len(frame.state) < 12_000


@pytest.mark.parametrize(
    "first", ["x = 'text' * 5000", "x = b'bytes' * 5000", "x = 'täxt' * 5000", "b = [1, 'text' * 5000]; x = b[1]"]
)
def test_a_long_text_is_stored_once_and_not_decoded_again(first: str) -> None:
    frame = Frame(NAMES)
    memory = frame.shape.open(None)
    for scope in (frame.scope, memory):
        assert frame.run(first, scope) is None
    frame.commit()
    assert frame.written > 20_000
    frame.read()
    text = frame.scope[frame.shape.names["x"]]
    for step in (
        "y = 1",
        "y = len(x)",
        "y = x",
        "a = {'in': x}",
        "c = x + x[:1]",
        "c = None",
        "x = [1]",
        "y = None",
        "a = b = None",
    ):
        for scope in (frame.scope, memory):
            assert frame.run(step, scope) is None
        frame.commit()
        assert drawing(frame.stored_scope()) == drawing(memory)
        assert frame.written == 0 or step.startswith("c = x")
        assert len(frame.state) < 1_000
        frame.read()
        y = frame.scope[frame.shape.names["y"]]
        assert y is text or y.__class__ is not text.__class__
    assert not frame.stored


def test_a_text_that_cannot_be_packed_is_written_as_before() -> None:
    frame = Frame(NAMES)
    frame.run("x = 'text' * 2000 + chr(0xd800); a = list(range(3000))", frame.scope)
    for _ in range(3):
        frame.commit()
        frame.read()
        assert frame.scope[frame.shape.names["x"]].endswith("\ud800")


LOOPS = (
    NEXT, NEXT, NEXT, "it = iter(b)", "it = iter(b.items())", "it = iter(b.values())", "it = reversed(b)", "b['k5']['n'] = 7",
    "x[1]['n'] = 8", "x['n'] = 9", "b['k7'] = {'n': x, 'l': []}", "y = it", "it = None", "b['k3'] = b.pop('k3')", "c = b['k2']",
    "c['l'].append(1)", "a = b", "it = enumerate(b)", "it = zip(b, b.values())", "x = next(it, None)", "y = iter(b)",
)  # fmt: skip
BURSTS = st.lists(st.tuples(st.integers(0, 5), st.lists(st.sampled_from(LOOPS), max_size=4)), min_size=2, max_size=12)


@given(BURSTS)
def test_a_loop_over_a_dict_is_at_the_same_item_in_memory_and_in_the_store(
    program: list[tuple[int, list[str]]],
) -> None:
    with small_pages():
        frame = Frame(NAMES)
        memory = frame.shape.open(None)
        for luck, burst in [(1, ["b = {f'k{i}': {'n': i, 'l': []} for i in range(12)}; it = iter(b)"]), *program]:
            for statement in burst:
                assert frame.run(statement, frame.scope) == frame.run(statement, memory), statement
            try:
                frame.commit()
            except ValuesLost:  # the keys of the dict were replaced in a loop over it
                return
            assert drawing(frame.stored_scope()) == drawing(memory)
            frame.read(cold=luck == 0)
            assert drawing(frame.scope) == drawing(memory)


@pytest.mark.parametrize("loop", ["iter(b)", "iter(b.items())", "iter(b.values())", "reversed(b)"])
def test_a_loop_over_a_dict_does_not_count_its_items_again(loop: str) -> None:
    frame = Frame(NAMES)
    memory = frame.shape.open(None)
    for scope in (frame.scope, memory):
        frame.run(f"b = {{i: {{'n': i}} for i in range(2000)}}; it = {loop}", scope)
    frame.commit()
    counted: list[DictPosition] = []
    made = DictPosition._made

    def noted(self: DictPosition) -> object:
        counted.append(self)
        return made(self)

    for number in range(20):
        with mock.patch.object(DictPosition, "_made", noted):
            frame.read()
        for text in (NEXT, "y = b[3]['n']; b[4]['n'] = y") if number % 2 else (NEXT, NEXT):
            assert frame.run(text, frame.scope) == frame.run(text, memory)
        frame.commit()
        assert frame.book is not None
        assert [position.counts for _, position in frame.book.loops] == [True]
        assert drawing(frame.stored_scope()) == drawing(memory)
    assert len(counted) == 1  # when the block was first read


def test_objects_that_code_held_before_a_commit_are_not_in_the_block_after_it() -> None:
    """An effect that runs after the commit may change its arguments (rule M17)."""
    frame = Frame(NAMES)
    frame.run("a = [{'n': i, 'l': 'text' * 9} for i in range(500)]", frame.scope)
    frame.commit()
    frame.read()
    frame.run("x = a[3]; a.append({'n': 500})", frame.scope)
    held, added = frame.scope[frame.shape.names["x"]], frame.scope[frame.shape.names["a"]][500]
    frame.commit()
    held["n"] = added["n"] = "changed by an effect"
    frame.read()
    live = frame.scope[frame.shape.names["a"]]
    assert (live[3]["n"], live[500]["n"]) == (3, 500)
    assert frame.scope[frame.shape.names["x"]] is live[3]
