"""Long lists as they are stored: in pages of some items each, and pages in runs.

A loop reads the page that it is at. A run is a value of its own, and has as many pages as a power of two says: of 22 units there
is a run of 16, one of 4 and one of 2. What is added to a list makes new runs, and two of one size become one, as in a binary
counter, so a list that grows with every step of a loop is not written with every step. What is left at the end stays with
whoever refers to the runs.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec

PAGE = 32
"""Items of a page; all but the last are full."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def split_pages(items: list[Any]) -> list[bytes]:
    return [_pack(items[at : at + PAGE]) for at in range(0, len(items), PAGE)]


def pack_pages(items: list[Any]) -> bytes:
    """Values are JSON, which has no bytes: so a list of bytes is one of pages."""
    return _pack(split_pages(items))


def pages_of(packed: bytes) -> list[bytes] | None:
    """None for a value that is no list of pages."""
    found = _unpack(packed)
    return found if _are_pages(found) else None


def unpack_value(packed: bytes) -> Any:
    found = _unpack(packed)
    return list(chain.from_iterable(map(_unpack, found))) if _are_pages(found) else found


def _are_pages(found: Any) -> bool:
    return found.__class__ is list and bool(found) and found[0].__class__ is bytes


def runs_of(items: list[Any], least: int) -> tuple[list[bytes], list[Any]]:
    """Packed runs of at least so many bytes, about, and the items behind them."""
    pages = split_pages(items[: len(items) - len(items) % PAGE])
    if not pages:
        return [], items
    # By the first page: it stays when the list grows, so the others stay where they are.
    unit = 1 << max(0, (least - 1) // len(pages[0])).bit_length()
    units = len(pages) // unit
    runs, at = [], 0
    for power in reversed(range(units.bit_length())):
        if units >> power & 1:
            runs.append(_pack(pages[at : at + (unit << power)]))
            at += unit << power
    return runs, items[at * PAGE :]
