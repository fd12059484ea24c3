"""Query batching: concurrent calls share one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from holdfast.model.stored import InstanceKey
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.query_batch import QueryBatcher
from holdfast.testing.store_rows import bookmark, commit_of, instance, stimulus, work

MANY = 50


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(database)
    await store.open()
    yield store
    await store.close()


@pytest.mark.service("postgres")
async def test_concurrent_rows_are_enqueued_together(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = store._driver
    inserts: list[Any] = []
    insert = driver.insert

    async def counted(doing: Any) -> Any:
        inserts.append(doing)
        return await insert(doing)

    monkeypatch.setattr(driver, "insert", counted)
    rows = [work("t", id=f"w{number}") for number in range(MANY)]

    answers = await asyncio.gather(*(store.enqueue([row, rows[0]]) for row in rows))

    assert [list(answer) for answer in answers] == [[True, False], *([[True, False]] * (MANY - 1))]
    assert len(inserts) <= 2  # The first row, and all rows that arrived during its insert.


@pytest.mark.service("postgres")
async def test_an_inbox_lookup_for_many_instances_is_one_query(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    fetch = store._fetch

    async def counted(sql: str, *values: Any) -> Any:
        queries.append(sql)
        return await fetch(sql, *values)

    monkeypatch.setattr(store, "_fetch", counted)
    keys = [InstanceKey("t", f"i{number}") for number in range(MANY)]
    for number, key in enumerate(keys):
        mark = bookmark("t", key.id, name=f"Event{number}")
        await store.commit([commit_of(instance(key.id, tenant="t"), bookmarks_added=(mark,))])

    assert not any(mail.rows for mail in await store.find_mail(keys, 4))
    assert len(queries) == 1

    early = stimulus("t", f"Event{MANY - 1}")
    await store.put_inbox([early])
    found = await store.find_mail(keys, 4)

    assert [row for mail in found for row in mail.rows] == [early]
    assert list(found[-1].rows) == [early]
    assert len(queries) == 1 + 2


async def test_queued_queries_are_sent_together() -> None:
    sent: list[list[int]] = []

    async def run(queries: Sequence[int]) -> Sequence[str]:
        sent.append(list(queries))
        await asyncio.sleep(0)
        return [str(query) for query in queries]

    batcher = QueryBatcher(run, 1)
    answers = await asyncio.gather(
        batcher.submit([0]), *(batcher.submit([number, -number]) for number in range(1, 200))
    )
    await batcher.close()

    assert answers == [["0"], *([str(number), str(-number)] for number in range(1, 200))]
    assert [len(queries) for queries in sent] == [255, 144]


async def test_only_the_caller_of_an_invalid_query_fails() -> None:
    async def run(queries: Sequence[int]) -> Sequence[int]:
        return [1 // query for query in queries]

    batcher = QueryBatcher(run, 1)
    answers = await asyncio.gather(
        batcher.submit([1]), batcher.submit([0]), batcher.submit([1, 1]), return_exceptions=True
    )

    assert answers[0] == [1]
    assert isinstance(answers[1], ZeroDivisionError)
    assert answers[2] == [1, 1]
