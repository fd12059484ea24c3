"""Lists page by page while rows come and go: nothing is told twice, and nothing that stays is left out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, HumanTask
from holdfast.model.commit import Commit
from holdfast.model.work import DeadLetterRow, WorkRow
from tests.integration.server.conftest import Caller, Serve

common, rare = Workflow(Event("often"), id="common"), Workflow(HumanTask("Look at it"), id="rare")


async def pages(api: Caller, path: str) -> Any:
    """Each page; the test may change things between them."""
    cursor = None
    while True:
        found = await api.get(path, params={} if cursor is None else {"cursor": cursor})
        yield found["items"]
        cursor = found["next"]
        if cursor is None:
            return


# -- dead letters ------------------------------------------------------------------------------------------------------


async def bury(api: Caller, *names: str) -> None:
    store = api.engine.runtime.store
    now = await store.now()
    letters = [
        DeadLetterRow(
            work=WorkRow(id=name, kind="stimulus", queue="default", created=now),
            reason="test",
            died=now + timedelta(seconds=int(name[1:])),
        )
        for name in names
    ]
    await store.commit([Commit(burst_id=names[0], dead_letters=tuple(letters))])


def numbered(*numbers: int) -> list[str]:
    return [f"l{number:03}" for number in numbers]


async def test_letters_that_come_and_go_move_no_other(api: Caller) -> None:
    store = api.engine.runtime.store
    await bury(api, *numbered(*range(10)))
    told: list[str] = []

    async for items in pages(api, "/api/dead-letters?limit=3"):
        told += [item["id"] for item in items]
        if len(told) == 3:
            await bury(api, *numbered(*range(100, 105)))
        if len(told) == 6:
            await store.delete_dead_letters("", [*numbered(*range(100, 105)), *told])

    assert told == numbered(*reversed(range(10)))


async def test_many_letters_may_go_between_two_pages(api: Caller) -> None:
    store = api.engine.runtime.store
    await bury(api, *numbered(*range(250)))
    told: list[str] = []

    async for items in pages(api, "/api/dead-letters?limit=230"):
        told += [item["id"] for item in items]
        await store.delete_dead_letters("", told)

    assert told == numbered(*reversed(range(250)))


@pytest.mark.parametrize("cursor", ["50", "x", "gqUtZGllZJM", "🙂"])
async def test_a_cursor_that_is_none_is_refused(api: Caller, cursor: str) -> None:
    refused = await api.get("/api/dead-letters", params={"cursor": cursor}, expect=422)

    assert "cursor" in refused["code"]


# -- bookmarks ---------------------------------------------------------------------------------------------------------


async def test_bookmarks_of_a_rare_name_are_found_behind_many_others(serve: Serve) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[common, rare]))
    runtime = api.engine.runtime
    wanted = [(await runtime.start(rare)).result.instance_id for _ in range(2)]  # type: ignore[union-attr]
    for _ in range(450):
        await runtime.start(common)
    wanted.append((await runtime.start(rare)).result.instance_id)  # type: ignore[union-attr]
    found: list[str] = []
    count = 0

    async for items in pages(api, "/api/bookmarks?limit=10"):
        count += len(items)
    async for items in pages(api, "/api/bookmarks?name=HumanTask&limit=10"):
        found += [item["instance_id"] for item in items]

    assert count == 453
    assert sorted(found) == sorted(wanted)


async def test_an_instance_that_is_deleted_meanwhile_is_left_out(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[common]))
    runtime = api.engine.runtime
    first, second = [(await runtime.start(common)).result.instance_id for _ in range(2)]  # type: ignore[union-attr]
    search = runtime.store.search

    async def slow(query: Any) -> Any:
        found = await search(query)
        await runtime.operators.cancel(first, who="t")
        await runtime.operators.delete(first, who="t")
        return found

    monkeypatch.setattr(runtime.store, "search", slow)
    listed = await api.get("/api/bookmarks")

    assert [item["instance_id"] for item in listed["items"]] == [second]
