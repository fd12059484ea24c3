"""Errors of stores, stored data and identities."""

from __future__ import annotations

from holdfast.errors.base import HoldfastError


class PersistenceError(HoldfastError):
    """Base class: data could not be stored, found or read."""


class InvalidId(PersistenceError, ValueError):
    """A text that is not a valid id."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        super().__init__(f"{text!r} is not a valid {what}: use 1 to 64 of the characters A-Z a-z 0-9 . _ : -")


class UnstorableText(PersistenceError, ValueError):
    """A text with a character that databases cannot store: NUL or a lone surrogate."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        character = "the character NUL" if "\0" in text else "a lone surrogate (half a character)"
        excerpt = ascii(text if len(text) <= 60 else f"{text[:60]}…")
        self.finding = f"The {what} {excerpt} contains {character}, which databases cannot store."
        super().__init__(f"{self.finding} Remove it, or encode it.")


class InvalidCursor(PersistenceError, ValueError):
    """A cursor that does not belong to the list."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        super().__init__(
            f"The cursor {cursor!r} does not belong to this list. Request the first page without a cursor."
        )


class BatchRefused(PersistenceError, ValueError):
    """A batch of commits that breaks the rules of the store. Nothing was written."""


class OriginRefused(PersistenceError):
    """Trusted code that arrived through an untrusted path."""


class UndecodablePayload(PersistenceError):
    """Stored bytes that cannot be decoded: unknown codec, missing key or altered content."""


class AlreadyStored(PersistenceError):
    """The identity is already stored and is not overwritten."""


class DeletionRefused(PersistenceError):
    """The instance, its child or its parent has not ended."""

    def __init__(self, instance_id: str, reason: str) -> None:
        self.instance_id = instance_id
        super().__init__(f"Instance {instance_id} was not deleted: {reason}. Cancel the running instances first.")


class StoreError(PersistenceError):
    """The database failed."""


class StoreUnavailable(StoreError):
    """The database does not answer, or the connection broke; retries failed."""


class StoreMisconfigured(StoreError):
    """A wrong address, a missing driver or a missing right."""


class SchemaMismatch(StoreError):
    """The schema is older or newer than this version of Holdfast."""


class StoreClosed(StoreError):
    """The store was used before `open`, after `close`, or in a process forked from the one that opened it."""
