"""Storage of long lists: pages of items, and runs of pages.

A loop reads one page at a time. A run is a separate value that holds a power of two of page units: 22 units are a run
of 16, one of 4 and one of 2. Appending to a list creates new runs, and two runs of the same size merge, as in a binary
counter. A list that grows with each step of a loop is therefore not rewritten with each step. The remaining items stay
with the reference to the runs.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec

PAGE = 32
"""Items per page; only the last page may hold fewer."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def split_pages(items: list[Any]) -> list[bytes]:
    return [_pack(items[at : at + PAGE]) for at in range(0, len(items), PAGE)]


def pack_pages(items: list[Any]) -> bytes:
    """Pack a list in pages. Values are JSON and JSON has no bytes, so a list of bytes is recognized as pages."""
    return _pack(split_pages(items))


def pages_of(packed: bytes) -> list[bytes] | None:
    """Pages of a packed list; None if the value is not stored in pages."""
    found = _unpack(packed)
    return found if _are_pages(found) else None


def unpack_value(packed: bytes) -> Any:
    found = _unpack(packed)
    return list(chain.from_iterable(map(_unpack, found))) if _are_pages(found) else found


def _are_pages(found: Any) -> bool:
    return found.__class__ is list and bool(found) and found[0].__class__ is bytes


def runs_of(items: list[Any], least: int) -> tuple[list[bytes], list[Any]]:
    """Packed runs of roughly at least `least` bytes, and the items after them."""
    pages = split_pages(items[: len(items) - len(items) % PAGE])
    if not pages:
        return [], items
    # Derive the unit from the first page: it does not change when the list grows, so existing runs stay valid.
    unit = 1 << max(0, (least - 1) // len(pages[0])).bit_length()
    units = len(pages) // unit
    runs, at = [], 0
    for power in reversed(range(units.bit_length())):
        if units >> power & 1:
            runs.append(_pack(pages[at : at + (unit << power)]))
            at += unit << power
    return runs, items[at * PAGE :]
