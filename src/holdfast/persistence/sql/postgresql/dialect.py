"""SQL dialect of PostgreSQL."""

from __future__ import annotations

from holdfast.persistence.sql.dialect import Dialect

POSTGRESQL = Dialect(
    name="postgresql",
    lock=" for update",
    lock_free=" for update skip locked",
    insert_once=" on conflict do nothing returning version",
    listing="hf_listed",
    now="select (extract(epoch from clock_timestamp()) * 1000000)::bigint",
    contains="strpos(lower({column}), ?) > 0",
    nulls_lowest=False,
    definitions_in_use="hf_group",
    search_tables={"correlation_id": "hf_listing", "name": "hf_listing"},
)
