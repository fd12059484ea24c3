"""Cells: order of reading, circles, and replacement in place."""

from __future__ import annotations

import pytest

from holdfast.execution.heap.cells import linked_first, links_in, may_link, read_cells, replace_inside
from holdfast.execution.heap.item_codec import NotTracked
from holdfast.model.values.encoder import TAG
from tests.support.tracked_heap import Part


def link(number: int) -> dict[str, object]:
    return {TAG: "cell", "id": number}


def test_links_are_found_at_any_depth() -> None:
    assert sorted(links_in([1, {"n": link(3)}, {TAG: "tuple", "in": [link(4)]}])) == [3, 4]


def test_a_cell_is_read_after_those_that_it_links_to() -> None:
    made: dict[int, object] = {}

    def read(data: object) -> object:
        return [made[number] for number in links_in(data)]

    assert read_cells({1: [link(2)], 2: [link(3)], 3: []}, read, made) == {1: {2}, 2: {3}}
    assert made == {1: [[[]]], 2: [[]], 3: []}
    assert list(made) == [1, 2, 3]


def test_a_long_chain_of_cells_is_read_without_recursion() -> None:
    links = {number: [number + 1] for number in range(50_000)} | {50_000: []}
    assert list(linked_first([0], links.__getitem__))[-1] == 0


def test_a_circle_of_cells_is_refused() -> None:
    with pytest.raises(NotTracked):
        list(linked_first([1], {1: [2], 2: [3], 3: [1]}.__getitem__))


def test_links_in_objects_that_cannot_be_changed_are_refused() -> None:
    cell = [1]
    assert may_link(("list", {}, [cell]), {id(cell)})
    assert may_link(("tuple", {}, [[cell]]), {id(cell)})
    assert not may_link(("tuple", {}, [cell]), {id(cell)})
    assert not may_link(("iterator", {}, []), {id(cell)})


def test_an_object_is_replaced_in_lists_dicts_and_fields_but_not_in_other_cells() -> None:
    old, new, other = [1], [2], [0]
    other.append(old)  # type: ignore[arg-type]  # a cell that contains the other
    item = {"list": [old], "part": Part(old, [old]), "tuple": ({"n": old},), "cell": other}
    replace_inside(item, {id(old): new}, {id(other)})
    assert item == {"list": [[2]], "part": Part([2], [[2]]), "tuple": ({"n": [2]},), "cell": [0, [1]]}
