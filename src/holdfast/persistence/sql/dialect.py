"""What databases say differently."""

from __future__ import annotations

from msgspec import Struct


class Dialect(Struct, frozen=True, kw_only=True):
    name: str
    lock: str = ""
    """Behind a SELECT whose rows this transaction is about to change; empty where a write transaction is alone."""
    lock_free: str = ""
    """The same for rows that nobody else has locked: claims."""
    skip_existing: str = "on conflict do nothing"
    """Behind an INSERT that leaves a row of the same key as it is."""
    insert_once: str = ""
    """Behind an INSERT that others race for: it then gives a row if it was written. Empty where nobody can race, or
    where a key that is there is an error upon which the script is run again."""
    over_existing: str = "on conflict (tenant, kind, id) do update set"
    """Behind an INSERT of a record: what is there is changed."""
    new_value: str = "excluded.{column}"
    """There, the value that was to be inserted."""
    listing: str = "hf_instance"
    """Where lists are read from: a table or a view with the columns of a summary."""
    now: str | None = None
    """A SELECT of microseconds since 1970; None asks the store's own clock, where the database has no other."""
    text_order: str = ""
    """Behind a text column in ORDER BY, to sort by code point."""
    contains: str = "instr(lower({column}), ?) > 0"
    """Whether a text holds a part, which is handed in lower case."""
