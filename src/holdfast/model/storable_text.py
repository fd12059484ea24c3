"""Texts that have a column of their own: ids, names, keys. Every database keeps the same ones.

Values inside a state may hold any text. A column cannot: PostgreSQL has no NUL in its texts, and half a character (a lone
surrogate) has no UTF-8. They are refused on every store alike, so that nothing works on one machine and fails on another.
"""

from __future__ import annotations

from typing import TypeVar

from holdfast.errors import UnstorableText

Text = TypeVar("Text", bound=str | None)

__all__ = ["is_storable", "storable"]


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(text: Text, what: str) -> Text:
    """The text itself, or None as well; raises `UnstorableText`."""
    if text is not None and not is_storable(text):
        raise UnstorableText(text, what)
    return text
