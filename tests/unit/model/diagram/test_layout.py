"""Layout: sizes of boxes, rows along the arrows, and room for wide characters."""

from __future__ import annotations

from holdfast.model.diagram.layout import place
from holdfast.model.diagram.shapes import Arrow, Box


def test_a_box_grows_with_its_text_and_wide_characters_count_twice() -> None:
    narrow, wide = place(Box("a", "x" * 30)), place(Box("b", "字" * 30))

    assert wide.width > narrow.width > place(Box("c", "x")).width
    assert place(Box("d", "x", "subtitle")).height > place(Box("e", "x")).height


def test_a_target_is_below_its_source() -> None:
    placed = place(Box("p", "parent", children=[Box("a", "a"), Box("b", "b")], arrows=[Arrow("a", "b")]))
    first, second = placed.children

    assert second.y >= first.y + first.height
    assert placed.height > second.y + second.height


def test_boxes_without_an_arrow_are_side_by_side() -> None:
    first, second = place(Box("p", "parent", children=[Box("a", "a"), Box("b", "b")])).children

    assert first.y == second.y
    assert second.x >= first.x + first.width


def test_an_arrow_over_several_rows_has_waypoints() -> None:
    arrows = [Arrow("a", "b"), Arrow("b", "c"), Arrow("a", "c")]
    placed = place(Box("p", "parent", children=[Box(name, name) for name in "abc"], arrows=arrows))

    assert placed.routes.keys() == {2}
