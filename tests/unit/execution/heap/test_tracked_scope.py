"""Tracked scopes: what the activities of a function report about its variables."""

from __future__ import annotations

from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.execution.heap.tracked_scope import TrackedScope, before_next, mention, mention_item, mention_value
from tests.support.tracked_heap import Frame


def scope_of(text: str) -> tuple[TrackedScope, TrackedBlock, dict[str, int]]:
    frame = Frame(("a", "b", "it"))
    assert frame.run(text, frame.scope) is None
    frame.commit()
    frame.read()
    assert isinstance(frame.scope, TrackedScope)
    assert frame.book is not None
    (block,) = frame.book.tracked()
    return frame.scope, block, frame.shape.names


def test_a_value_that_moves_to_another_variable_may_change() -> None:
    scope, block, names = scope_of("a = list(range(3000)); b = {'in': a}")
    mention(scope, names["b"])
    assert block.whole


def test_the_next_item_of_a_list_touches_the_item_only() -> None:
    scope, block, names = scope_of("a = [{'n': i} for i in range(3000)]; it = iter(a)")
    before_next(scope, names["it"])
    mention_value(scope, next(scope[names["it"]]))
    assert list(block.touched) == [0]
    assert not block.whole


def test_an_item_that_is_a_tuple_is_touched_itself() -> None:
    scope, block, names = scope_of("a = [(i, {'n': i}) for i in range(3000)]; it = zip(a, range(9))")
    mention_value(scope, next(scope[names["it"]]))
    assert list(block.touched) == [0]


def test_an_iterator_that_calls_functions_may_change_anything() -> None:
    scope, block, names = scope_of("a = list(range(3000)); it = map(Part, a, a)")
    before_next(scope, names["it"])
    assert block.whole


def test_a_block_in_the_item_of_a_small_list_may_change() -> None:
    scope, block, names = scope_of("a = list(range(3000)); b = [(0, {'x': a})]")
    mention_item(scope, scope[names["b"]], 0)
    assert block.whole


def test_a_block_in_the_value_of_an_iterator_may_change() -> None:
    scope, block, names = scope_of("b = {'in': list(range(3000))}; it = iter([b])")
    mention_value(scope, next(scope[names["it"]]))
    assert block.whole
