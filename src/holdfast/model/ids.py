"""Identifiers: strings of at most 64 characters. Generated ids sort by creation time.

A generated id is 13 characters of Crockford base32 over `ms << 22 | worker << 12 | sequence`: 42 bits of milliseconds
since 1970, 10 bits of worker number, 12 bits of sequence. The node registry leases worker numbers, so two nodes never
generate the same id; if it happened, the store would report a collision, never a duplicate. Time is passed in: this module
reads no clock. User-defined ids (`order-4711`) use the same alphabet.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.errors import InvalidId

ID_LENGTH_MAX = 64
WORKERS = 1 << 10
_SEQUENCES = 1 << 12
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_DIGITS = {letter: index for index, letter in enumerate(_ALPHABET)}
_VALID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_GENERATED = re.compile(f"[{_ALPHABET}]{{13}}")


def is_id(text: str) -> bool:
    return _VALID.fullmatch(text) is not None


def checked_id(text: str, what: str = "id") -> str:
    if not is_id(text):
        raise InvalidId(text, what)
    return text


def encode_id(number: int) -> str:
    """13 characters that sort like the numbers. Encodes ten bits at a time, which halves the steps."""
    pairs = _PAIRS
    return (
        _ALPHABET[number >> 60]
        + pairs[number >> 50 & 1023]
        + pairs[number >> 40 & 1023]
        + pairs[number >> 30 & 1023]
        + pairs[number >> 20 & 1023]
        + pairs[number >> 10 & 1023]
        + pairs[number & 1023]
    )


def decode_id(text: str) -> int:
    """The number encoded in a generated id. Raises `InvalidId` for other ids."""
    if _GENERATED.fullmatch(text) is None:
        raise InvalidId(text, "generated id")
    number = 0
    for letter in text:
        number = number << 5 | _DIGITS[letter]
    return number


class IdGenerator:
    """Generates ids for one worker number in one thread. Ids stay unique if the clock stands still or goes backwards."""

    __slots__ = ("_head", "_last", "_nanoseconds", "_tail", "_until", "_worker")

    def __init__(self, nanoseconds: Callable[[], int], worker: int) -> None:
        if not 0 <= worker < WORKERS:
            raise ValueError(f"worker {worker} is not below {WORKERS}: lease one from the node registry")
        self._nanoseconds = nanoseconds
        self._worker = worker << 12
        self._head = ""
        """The last id without its last two characters; unchanged while ten bits of sequence count up."""
        self._tail = 0
        """The current value of those ten bits."""
        self._last = -1
        """(Milliseconds, sequence) of the last id with a new head, as one number. An exhausted millisecond overflows into
        the next."""
        self._until = 0
        """End of the millisecond of the last id."""

    def __call__(self) -> str:
        now = self._nanoseconds()
        if now < self._until and self._tail < 1023:
            self._tail = tail = self._tail + 1
            return self._head + _PAIRS[tail]
        moment = now // 1_000_000 << 12
        last = self._last | self._tail
        if moment <= last:
            moment = last + 1
        self._last, self._tail = moment & -1024, moment & 1023
        self._until = ((moment >> 12) + 1) * 1_000_000
        self._head = encode_id((moment >> 12) << 22 | self._worker | moment & _SEQUENCES - 1)[:-2]
        return self._head + _PAIRS[self._tail]
