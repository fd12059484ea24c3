"""Table mapping: encodes structs to rows and decodes them.

Times are microseconds since 1970, flags are 0 or 1. Payloads pass through the codec with the name of their column and tenant.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar

from holdfast.ports import Codec

R = TypeVar("R")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Encode = Callable[[R, Codec], tuple[Any, ...]]
Decode = Callable[[Sequence[Any], Codec], R]


def micros(moment: datetime) -> int:
    past = moment - EPOCH
    return past.days * 86_400_000_000 + past.seconds * 1_000_000 + past.microseconds


@lru_cache(maxsize=64)
def common_micros(moment: datetime) -> int:
    """`micros` with a cache: rows that are written together share a time."""
    return micros(moment)


def micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


@lru_cache(maxsize=4096)
def moment(number: int) -> datetime:
    """The time of a stored number. Cached: rows that are written together share their times, and are read together."""
    return EPOCH + timedelta(microseconds=number)


def moment_or_none(number: int | None) -> datetime | None:
    return None if number is None else moment(number)


class Table(Generic[R]):
    """One table with its columns, in the order in which rows are encoded and decoded."""

    def __init__(self, name: str, columns: str, encode: Encode[R], decode: Decode[R]) -> None:
        self.name = name
        self.columns = columns
        self.names = tuple(columns.split(", "))
        self.encode = encode
        self.decode = decode
        places = ", ".join("?" * len(self.names))
        self.insert = f"insert into {name} ({columns}) values ({places})"
        """Fails for a row whose key is stored already."""
        self.select = f"select {columns} from {name}"

    def rows(self, found: Sequence[Sequence[Any]], codec: Codec) -> list[R]:
        decode = self.decode
        return [decode(row, codec) for row in found]
