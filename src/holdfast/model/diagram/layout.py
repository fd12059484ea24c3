"""Layout of boxes: layers from top to bottom along the arrows; containers enclose their children.

An arrow across several layers gets a slot in each of them, so that it runs between the boxes and not through them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from unicodedata import east_asian_width

from holdfast.model.diagram.shapes import Arrow, Box

__all__ = ["Placed", "place"]

_CHAR, _LINE = 7.5, 18.0
_PADDING, _HEADER = 16.0, 34.0
_GAP_X, _GAP_Y = 28.0, 46.0
_SMALLEST = 90.0
_LANE = 14.0

Point = tuple[float, float]


@dataclass(slots=True)
class Placed:
    """A box with its size and its position inside the parent box."""

    box: Box
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    row_end: float = 0.0
    """Bottom of its row: an outgoing arrow runs straight down to it, past taller boxes."""
    children: list[Placed] = field(default_factory=list)
    routes: dict[int, list[Point]] = field(default_factory=dict)
    """Waypoints of arrows across several layers, by index of the arrow."""


def place(box: Box) -> Placed:
    own_width = max(_width(box.title), _width(box.subtitle), _SMALLEST)
    if not box.children:
        lines = 2 if box.subtitle else 1
        return Placed(box, own_width + 2 * _PADDING, lines * _LINE + _PADDING)
    children = [place(child) for child in box.children]
    placed = Placed(box, 0, 0, children=children)
    right, bottom = _arrange(placed, _rows(children, box.arrows))
    loops = _LANE * sum(arrow.backward for arrow in box.arrows)
    placed.width = max(right + loops + _PADDING, own_width + 2 * _PADDING)
    placed.height = bottom + _PADDING
    return placed


def _width(text: str) -> float:
    return sum(_CHAR * (2 if east_asian_width(char) in "WF" else 1) for char in text)


# -- layers ------------------------------------------------------------------------------------------------------------

Slot = Placed | int
"""A box, or the index of an arrow that passes through the row."""


def _rows(children: list[Placed], arrows: list[Arrow]) -> list[list[Slot]]:
    layers = _layers([child.box.key for child in children], arrows)
    rows: list[list[Slot]] = [[] for _ in range(max(layers.values()) + 1)]
    for child in children:
        rows[layers[child.box.key]].append(child)
    for index, arrow in enumerate(arrows):
        for layer in range(layers[arrow.source] + 1, layers[arrow.target]):
            rows[layer].append(index)
    return _sorted_rows(rows, arrows)


def _layers(keys: list[str], arrows: list[Arrow]) -> dict[str, int]:
    """Longest path from a box without inbound arrows; arrows of unreachable cycles are ignored."""
    layers = dict.fromkeys(keys, 0)
    forward = [arrow for arrow in arrows if not arrow.backward and arrow.source != arrow.target]
    open_ends = dict.fromkeys(keys, 0)
    leaving: dict[str, list[str]] = {key: [] for key in keys}
    for arrow in forward:
        open_ends[arrow.target] += 1
        leaving[arrow.source].append(arrow.target)
    waiting = [key for key in keys if not open_ends[key]]
    while waiting:
        key = waiting.pop()
        for target in leaving[key]:
            layers[target] = max(layers[target], layers[key] + 1)
            open_ends[target] -= 1
            if not open_ends[target]:
                waiting.append(target)
    return layers


def _sorted_rows(rows: list[list[Slot]], arrows: list[Arrow]) -> list[list[Slot]]:
    """Each row ordered by the positions of its predecessors, so that few arrows cross."""
    position: dict[str | int, float] = {}
    leading: dict[str, list[int]] = {}
    for index, arrow in enumerate(arrows):
        leading.setdefault(arrow.target, []).append(index)

    def wanted(slot: Slot) -> float:
        if isinstance(slot, int):
            return position.get(slot, position.get(arrows[slot].source, 0.5))
        found = [position.get(index, position.get(arrows[index].source)) for index in leading.get(slot.box.key, ())]
        known = [where for where in found if where is not None]
        return sum(known) / len(known) if known else 0.5

    ordered = []
    for row in rows:
        row_in_order = sorted(row, key=wanted)
        ordered.append(row_in_order)
        for number, slot in enumerate(row_in_order):
            position[slot if isinstance(slot, int) else slot.box.key] = (number + 0.5) / len(row_in_order)
    return ordered


# -- positions ---------------------------------------------------------------------------------------------------------


def _arrange(placed: Placed, rows: list[list[Slot]]) -> Point:
    """Set the position of every child. Returns their right and bottom edges."""
    widest = max(_row_width(row) for row in rows)
    top = _HEADER
    for row in rows:
        height = max((slot.height for slot in row if isinstance(slot, Placed)), default=_LINE)
        left = _PADDING + (widest - _row_width(row)) / 2
        for slot in row:
            if isinstance(slot, Placed):
                slot.x, slot.y, slot.row_end = left, top, top + height
            else:
                placed.routes.setdefault(slot, []).extend([(left + _LANE / 2, top), (left + _LANE / 2, top + height)])
            left += _slot_width(slot) + _GAP_X
        top += height + _GAP_Y
    return _PADDING + widest, top - _GAP_Y


def _slot_width(slot: Slot) -> float:
    return slot.width if isinstance(slot, Placed) else _LANE


def _row_width(row: Iterable[Slot]) -> float:
    widths = [_slot_width(slot) for slot in row]
    return sum(widths) + _GAP_X * (len(widths) - 1)
