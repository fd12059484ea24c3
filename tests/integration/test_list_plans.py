"""Every filter and sort of a list of instances is a range of an index, on every SQL store.

The plans are those of the database: no table is read as a whole, and no branch of a list is sorted. Filters that name few
instances are sorted after they were found.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.upkeep import RetentionRule
from holdfast.persistence import store_from_url
from holdfast.persistence.sql.postgresql.connection import ORDINARY, connect
from holdfast.persistence.sql.script import Rows, Script, Statement
from holdfast.testing.store_rows import commit_of, instance, later
from tests.support.services.mysql import executed

MANY = 600
FILTERS = {
    "none": InstanceFilter(),
    "status": InstanceFilter(statuses=("faulted", "finished")),
    "definition": InstanceFilter(definition_ids=("d1", "d2")),
    "both": InstanceFilter(definition_ids=("d1",), statuses=("finished",)),
    "version": InstanceFilter(definition_ids=("d1",), definition_version=1),
    "content": InstanceFilter(contents=("c1",)),
    "no system": InstanceFilter(system=False),
    "created": InstanceFilter(created_from=later(50)),
}
SELECTIVE = {
    "ids": InstanceFilter(ids=("i0001", "i0002")),
    "correlation": InstanceFilter(correlation_ids=("k17",)),
    "name": InstanceFilter(names=("name 20",)),
    "parent": InstanceFilter(parent_id="p1"),
    "incidents": InstanceFilter(has_incidents=True),
    "search": InstanceFilter(search="k17"),
}
"""Filters that name few instances."""
LISTED = (InstanceSort.CREATED, InstanceSort.UPDATED, InstanceSort.FINISHED, InstanceSort.NAME, InstanceSort.ID)


class Plans:
    """A store that records the plans of its reads."""

    def __init__(self, store: Any, explain: str, check: Callable[[Rows, bool], list[str]]) -> None:
        self.store = store
        self._explain = explain
        self._check = check
        self._recorded: list[Statement] = []
        self._read = store._read
        store._read = self._recording

    async def _recording(self, script: Script[Any]) -> Any:
        return await self._read(self._record(script))

    def _record(self, script: Script[Any]) -> Script[Any]:
        statement = next(script)
        try:
            while True:
                self._recorded.append(statement)
                rows = yield statement
                statement = script.send(rows)
        except StopIteration as done:
            return done.value

    async def problems(self, *, sorts: bool) -> list[str]:
        """Problems of the plans of the statements since the last call. `sorts`: what was found may be sorted."""
        found = []
        for sql, values, _ in self._recorded:
            rows = await self._read(_explained(f"{self._explain} {sql}", values))
            found += [f"{problem} in {sql}" for problem in self._check(rows, sorts)]
        self._recorded.clear()
        return found


def _explained(sql: str, values: Sequence[Any]) -> Script[Rows]:
    return (yield Statement(sql, values))


def sqlite_problems(rows: Rows, sorts: bool) -> list[str]:
    inner = {row[0] for row in rows if row[3].startswith(("CO-ROUTINE", "MATERIALIZE"))} or {0}
    found = []
    for _, parent, _, detail in rows:
        if detail.startswith("SCAN hf_instance") or (detail.startswith("SCAN i") and "INDEX" not in detail):
            found.append(detail)
        if not sorts and parent in inner and "TEMP B-TREE FOR" in detail and "ORDER BY" in detail:
            found.append(detail)
    return found


def postgres_problems(rows: Rows, sorts: bool) -> list[str]:
    lines = [str(row[0]) for row in rows]
    found = [line for line in lines if "Seq Scan on hf_listing" in line or "Seq Scan on hf_instance" in line]
    sorted_at = [
        line for line in lines if line.strip().removeprefix("->").strip().startswith(("Sort  (", "Incremental Sort"))
    ]
    merged = any("Nested Loop" in line or "Append" in line for line in lines)
    return found + ([] if sorts else sorted_at[1 if merged else 0 :])


def mysql_problems(rows: Rows, sorts: bool) -> list[str]:
    found = []
    for row in rows:
        table, kind, extra = row[2], row[3], row[-1] or ""
        if table in {"hf_instance", "i"} and (kind == "ALL" or (not sorts and "filesort" in extra)):
            found.append(repr(row))
    return found


async def filled(store: Any) -> None:
    await store.open()
    statuses = ("finished", "finished", "finished", "suspended", "faulted", "canceled")
    for start in range(0, MANY, 100):
        await store.commit(
            [
                commit_of(
                    instance(
                        f"i{number:04}",
                        status=statuses[number % 6],
                        definition_id=f"d{number % 5}",
                        content=f"c{number % 5}",
                        correlation_id=f"k{number}",
                        name=f"name {number}" if number % 10 == 0 else None,
                        parent_id="p1" if number % 100 == 0 else None,
                        incidents=int(number % 100 == 0),
                        created=later(number),
                        updated=later(number + 5),
                        finished=later(number + 5) if number % 6 != 3 else None,
                    )
                )
                for number in range(start, start + 100)
            ]
        )


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    fixture = {"postgresql": "postgres", "mysql": "mysql"}.get(request.param)
    return f"sqlite:///{tmp_path}/plans.db" if fixture is None else str(request.getfixturevalue(fixture))


@pytest.fixture
async def plans(url: str) -> AsyncIterator[Plans]:
    store = store_from_url(url)
    if store.name == "postgresql":
        await _prefer_indexes(url)
    await filled(store)
    if store.name == "postgresql":
        await store.count("", InstanceFilter())  # Project the list.
        admin = await connect(url, ORDINARY)
        await admin.execute("analyze")
        await admin.close()
    if store.name == "mysql":
        await executed(url, "analyze table hf_instance")
    explain, check = {
        "sqlite": ("explain query plan", sqlite_problems),
        "postgresql": ("explain", postgres_problems),
        "mysql": ("explain", mysql_problems),
    }[store.name]
    yield Plans(store, explain, check)
    await store.close()


async def _prefer_indexes(url: str) -> None:
    """Plans of a large table, for a table of a few rows."""
    admin = await connect(url, ORDINARY)
    ((name,),) = await admin.fetch("select current_database()")
    for setting in ("enable_seqscan", "enable_sort", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin"):
        await admin.execute(f'alter database "{name}" set {setting} = off')
    await admin.close()


async def test_every_filter_and_sort_is_a_range_of_an_index(plans: Plans) -> None:
    problems = []
    for (name, filter), sort, descending in product(FILTERS.items(), LISTED, (False, True)):
        query = InstanceQuery(filter=filter, sort=sort, descending=descending, limit=5)
        page = await plans.store.search(query)
        if page.cursor is not None:
            await plans.store.search(
                InstanceQuery(filter=filter, sort=sort, descending=descending, limit=5, cursor=page.cursor)
            )
        problems += [(name, sort.value, descending, problem) for problem in await plans.problems(sorts=False)]

    assert problems == []


async def test_few_instances_are_found_by_an_index(plans: Plans) -> None:
    problems = []
    for (name, filter), sort in product(SELECTIVE.items(), LISTED):
        if filter.search and sort is InstanceSort.ID:
            continue  # Bulk actions compare every instance.
        await plans.store.search(InstanceQuery(filter=filter, sort=sort, limit=5))
        problems += [(name, sort.value, problem) for problem in await plans.problems(sorts=True)]

    assert problems == []


async def test_retention_finds_instances_by_an_index(plans: Plans) -> None:
    for definitions in ((), ("d1",)):
        rule = RetentionRule(finished_before=later(100), definition_ids=definitions)
        await plans.store.find_expired("", rule, 10)

    assert await plans.problems(sorts=True) == []


async def test_counts_by_status_and_definition_read_no_instances(plans: Plans) -> None:
    if plans.store.name == "mysql":
        pytest.skip("MySQL counts the entries of an index; triggers would need rights that many servers do not give")
    for filter in (InstanceFilter(), InstanceFilter(system=False), InstanceFilter(definition_ids=("d1",))):
        await plans.store.count_by_status("", filter)
        await plans.store.count_by_hour("", later(0))

    assert not any("hf_instance" in sql or "hf_listed" in sql for sql, _, _ in plans._recorded)
