"""SQL dialects: the fragments in which databases differ."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Dialect(Struct, frozen=True, kw_only=True):
    name: str
    lock: str = ""
    """Locking clause of a SELECT. Empty if a write transaction excludes all others."""
    lock_free: str = ""
    """Locking clause that skips rows which are already locked."""
    skip_existing: str = "on conflict do nothing"
    """Clause of an INSERT that skips rows whose key is stored already."""
    insert_once: str = ""
    """Clause of an INSERT with competitors: it returns a row only if it was written. Empty if write transactions exclude each
    other, or if a duplicate key is an error after which the script runs again."""
    over_existing: str = "on conflict (tenant, kind, id) do update set"
    """Upsert clause of an INSERT of a record."""
    new_value: str = "excluded.{column}"
    """The value to insert, within the upsert clause."""
    listing: str = "hf_instance"
    """Table or view with the columns of a summary, from which lists are read."""
    tallies: str = "hf_tally"
    """Table with the numbers of instances, whose values are added up."""
    now: str | None = None
    """A SELECT of microseconds since 1970. None uses the clock of the process, for a database without its own."""
    compares_pairs: bool = True
    """`(a, b) < (?, ?)` is one range of an index on (a, b)."""
    nulls_lowest: bool = True
    """NULL sorts before all values."""
    by_index: str = ""
    """Clause after a table that makes a list read this index. Statistics may be missing or old."""
    by_name: str = ""
    """The same for the index on names."""
    by_id: str = ""
    """The same for the primary key."""
    definitions_in_use: str = "hf_instance"
    """Table with the definition ids of the instances, few rows of each."""
    search_tables: Mapping[str, str] = {}
    """Tables with an index on a searched column, where it is not hf_instance."""
    contains: str = "instr(lower({column}), ?) > 0"
    """Condition for a substring, which is given in lower case."""
