"""Something could not be kept, or could not be read again."""

from __future__ import annotations

from holdfast.errors.base import HoldfastError


class PersistenceError(HoldfastError):
    """Something could not be kept, found or read back."""


class InvalidId(PersistenceError, ValueError):
    """A text that cannot be an id."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        super().__init__(f"{text!r} is no {what}: use 1 to 64 of the characters A-Z a-z 0-9 . _ : -")


class UnstorableText(PersistenceError, ValueError):
    """A text with a character that no column keeps: NUL, or half of one (a lone surrogate)."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        sign = "the character NUL" if "\0" in text else "half a character (a lone surrogate)"
        shown = ascii(text if len(text) <= 60 else f"{text[:60]}…")
        self.finding = f"The {what} {shown} holds {sign}, which no database keeps."
        super().__init__(f"{self.finding} Remove it, or encode it.")


class InvalidCursor(PersistenceError, ValueError):
    """A cursor that this list did not make."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        super().__init__(f"The cursor {cursor!r} is not of this list. Ask for the first page without a cursor.")


class BatchRefused(PersistenceError, ValueError):
    """A batch of commits that no store may write. Nothing of it was written."""


class OriginRefused(PersistenceError):
    """Trusted code that came through a way that is not trusted."""


class UndecodablePayload(PersistenceError):
    """Stored bytes that cannot be read back: another codec, a key that is missing, or tampered content."""


class AlreadyStored(PersistenceError):
    """Something of that identity is stored already, and is not overwritten."""


class DeletionRefused(PersistenceError):
    """An instance that is not at rest, or whose child or parent is not."""

    def __init__(self, instance_id: str, reason: str) -> None:
        self.instance_id = instance_id
        super().__init__(f"Instance {instance_id} is not deleted: {reason}. Cancel what still lives first.")


class StoreError(PersistenceError):
    """The database did not do what it was asked."""


class StoreUnavailable(StoreError):
    """The database does not answer, or the connection broke; it was tried again without success."""


class StoreMisconfigured(StoreError):
    """An address, a driver or a right that is not as it must be."""


class SchemaMismatch(StoreError):
    """The schema is older or newer than this version of Holdfast."""


class StoreClosed(StoreError):
    """A store that was used before `open`, after `close`, or in a process forked from the one that opened it."""
