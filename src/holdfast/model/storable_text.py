"""Texts with a database column of their own: ids, names, keys.

Values inside a state may hold any text; a column may not. PostgreSQL does not store NUL, and a lone surrogate has no UTF-8
encoding. Every store refuses both, so that a workflow behaves the same on all of them.
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
    """Returns the text, or None for None. Raises `UnstorableText`."""
    if text is not None and not is_storable(text):
        raise UnstorableText(text, what)
    return text
