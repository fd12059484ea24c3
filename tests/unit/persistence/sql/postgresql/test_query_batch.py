"""What many ask at once is asked of PostgreSQL once: rows to enqueue, looks into the inbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.testing.store_rows import bookmark, stimulus, work

pytestmark = pytest.mark.service("postgres")
MANY = 50


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(database)
    await store.open()
    yield store
    await store.close()


async def test_rows_that_come_together_are_enqueued_together(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert len(inserts) <= 2  # The first, and all that came while it was written.


async def test_a_look_into_the_inbox_for_many_is_one_question(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []
    ask = store._ask

    async def counted(sql: str, *values: Any) -> Any:
        questions.append(sql)
        return await ask(sql, *values)

    monkeypatch.setattr(store, "_ask", counted)
    marks = [bookmark("t", f"i{number}", name=f"Event{number}") for number in range(MANY)]

    assert not any(await store.find_inbox(marks))
    assert len(questions) == 1

    early = stimulus("t", f"Event{MANY - 1}")
    await store.put_inbox([early])
    found = await store.find_inbox(marks)

    assert [row for rows in found for row in rows] == [early]
    assert found[-1] == [early]
    assert len(questions) == 1 + 2
