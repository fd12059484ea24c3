"""New definitions are published many at once, with the same result as one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.model.catalog import DefinitionVersion, Which
from holdfast.persistence.memory import MemoryStore

DEFINITION_CALLS = {
    "list_versions", "publish_new", "save_version", "load_content", "find_version", "put_schedules", "list_schedules", "count"
}  # fmt: skip


class Counted:
    """A store that counts its calls, and stays the same over many starts."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self.store, name)


def document(name: str, **start: Any) -> dict[str, Any]:
    line = {"type": "WriteLine", "inputs": {"text": {"$python": "'hello'"}}}
    first = [start | ({"options": {"can_start": True}} if "inputs" in start else {})] if start else []
    return {"id": name, "name": name, "root": {"type": "Sequence", "activities": [*first, line]}}


def written(folder: Path, *documents: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for each in documents:
        (folder / f"{each['id']}.json").write_text(json.dumps(each), encoding="utf-8")
    return folder


async def published(store: Any, name: str) -> DefinitionVersion:
    found: DefinitionVersion | None = await store.find_version("", name, Which.PUBLISHED)
    assert found is not None
    return found


async def test_the_number_of_calls_does_not_grow_with_each_definition(tmp_path: Path) -> None:
    counts = []
    for many in (5, 95):
        store = Counted()
        folder = written(tmp_path / str(many), *(document(f"d{number}") for number in range(many)))
        async with Holdfast(store=store, workflows=[folder]):  # type: ignore[arg-type]
            counts.append(sum(name in DEFINITION_CALLS for name in store.calls))
        assert (await published(store.store, f"d{many - 1}")).version == 1

    assert counts[0] == counts[1]


async def test_the_version_is_the_same_as_of_a_single_publish(tmp_path: Path) -> None:
    many, single = MemoryStore(), MemoryStore()
    plain = document("plain", type="Event", inputs={"event_name": "Placed"})
    async with Holdfast(store=many, workflows=[written(tmp_path, plain)]):
        pass
    async with Holdfast(store=single) as app:
        await app.runtime.definitions.save_and_publish(plain)

    found, expected = await published(many, "plain"), await published(single, "plain")

    assert (found.content, found.version, found.name, found.latest) == (
        expected.content, expected.version, expected.name, expected.latest,
    )  # fmt: skip
    assert await many.list_triggers("") == await single.list_triggers("")


@pytest.mark.parametrize(
    "start",
    [
        {"type": "Cron", "inputs": {"expression": "0 0 * * *"}},
        {"type": "HttpEndpoint", "inputs": {"path": "/orders"}},
    ],
)
async def test_definitions_with_schedules_or_routes_are_published_one_by_one(
    tmp_path: Path, start: dict[str, Any]
) -> None:
    store = Counted()
    async with Holdfast(store=store, workflows=[written(tmp_path, document("d", **start))]):  # type: ignore[arg-type]
        assert "publish_new" not in store.calls
        assert "save_version" in store.calls
    assert (await published(store.store, "d")).published


async def test_a_definition_with_a_version_keeps_its_history(tmp_path: Path) -> None:
    store = MemoryStore()
    async with Holdfast(store=store) as app:
        await app.runtime.definitions.save_and_publish(document("d"))
    async with Holdfast(store=store, workflows=[written(tmp_path, document("d", type="Sequence"), document("e"))]):
        assert (await published(store, "d")).version == 2
        assert (await published(store, "e")).version == 1
