"""A start publishes only definitions that changed since the last start, and reads all others with a few statements."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, activity, workflow
from holdfast.errors import DefinitionError, HoldfastError
from holdfast.management.definitions.provided import source_hash
from holdfast.model.catalog import Which
from holdfast.persistence.memory import MemoryStore


@activity
async def greet(name: str) -> str:
    return name


@workflow
async def hello(name: str) -> str:
    return await greet(name)


class Counted:
    """A store that counts its calls, and stays the same over many starts."""

    def __init__(self) -> None:
        self._store = MemoryStore()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found) or name in {"wait_for_change", "until_due", "now", "beat", "claim"}:
            return found

        def counted(*values: Any, **named: Any) -> Any:
            self.calls.append(name)
            return found(*values, **named)

        return counted


@pytest.fixture
def store() -> Any:
    return Counted()


def written(folder: Path, name: str, text: str = "hello", kind: str = "WriteLine") -> None:
    document = {"id": name, "name": name, "root": {"type": kind, "inputs": {"text": text}}}
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")


async def opened(store: Any, *workflows: Any, **options: Any) -> list[str]:
    """The calls of the store during a start."""
    store.calls.clear()
    async with Holdfast(store=store, workflows=list(workflows), **options):
        return list(store.calls)


def writes(calls: Iterable[str]) -> list[str]:
    return [name for name in calls if name in {"save_version", "publish_new", "deploy", "put_schedules"}]


async def contents(store: Any, *names: str) -> list[str]:
    return [(await store.find_version("", name, Which.PUBLISHED)).content for name in names]


async def test_unchanged_files_cost_the_same_number_of_calls(store: Any, tmp_path: Path) -> None:
    counts = []
    for many in (3, 30):
        for number in range(many):
            written(tmp_path, f"d{number}")
        first = await opened(store, tmp_path)
        again = await opened(store, tmp_path)
        assert writes(first)
        assert not writes(again)
        counts.append(len(again))

    assert counts[0] == counts[1]


async def test_unchanged_code_is_neither_checked_nor_deployed_again(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "deploy" in await opened(store, hello)
    monkeypatch.setattr("holdfast.model.validate.validate", None)
    again = await opened(store, hello)

    assert not writes(again)
    async with Holdfast(store=store, workflows=[hello]) as app:
        handle = await app.start(hello, "Ada")
        assert await handle.result() == "Ada"


async def test_another_deployment_is_published_again(store: Any) -> None:
    await opened(store, hello, deployment="one")
    assert "deploy" in await opened(store, hello, deployment="two")
    assert "deploy" not in await opened(store, hello, deployment="two")


async def test_only_the_changed_file_is_published(store: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path, name)
    await opened(store, tmp_path)
    before = await contents(store, "a", "b")
    written(tmp_path, "b", "changed")

    calls = await opened(store, tmp_path)

    after = await contents(store, "a", "b")
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)
    assert calls.count("save_version") == 1
    assert not writes(await opened(store, tmp_path))


async def test_a_version_that_was_published_by_other_means_gives_way_to_the_file(store: Any, tmp_path: Path) -> None:
    written(tmp_path, "a")
    await opened(store, tmp_path)
    of_file = await contents(store, "a")
    async with Holdfast(store=store) as app:
        await app.runtime.definitions.save_and_publish(
            {"id": "a", "name": "a", "root": {"type": "WriteLine", "inputs": {"text": "other"}}}
        )
        assert await contents(store, "a") != of_file

    await opened(store, tmp_path)

    async with Holdfast(store=store) as app:
        found = await app.runtime.definitions.content("a", Which.PUBLISHED)
    assert found["root"]["inputs"]["text"] == "hello"


async def test_a_type_that_was_removed_prevents_the_start(store: Any, tmp_path: Path) -> None:
    @activity(name="Greet")
    async def shout(text: str) -> str:
        return text

    written(tmp_path, "a", kind="Greet")
    await opened(store, tmp_path, activities=[shout])

    with pytest.raises(DefinitionError, match="Greet"):
        await opened(store, tmp_path)


async def test_two_files_with_one_id_are_refused_if_one_of_them_is_unchanged(store: Any, tmp_path: Path) -> None:
    written(tmp_path, "a")
    await opened(store, tmp_path)
    (tmp_path / "b.json").write_text((tmp_path / "a.json").read_text(encoding="utf-8"), encoding="utf-8")

    with pytest.raises(HoldfastError, match="already used by"):
        await opened(store, tmp_path)


async def test_a_definition_that_uses_a_workflow_gets_its_new_version(store: Any, tmp_path: Path) -> None:
    part = {
        "id": "part",
        "name": "Part",
        "options": {"usable_as_activity": True},
        "root": {"type": "WriteLine", "inputs": {"text": "one"}},
    }
    (tmp_path / "part.json").write_text(json.dumps(part), encoding="utf-8")
    whole = {"id": "whole", "name": "Whole", "root": {"type": "Part"}}
    (tmp_path / "whole.json").write_text(json.dumps(whole), encoding="utf-8")
    await opened(store, tmp_path)
    before = await contents(store, "whole")
    part["root"] = {"type": "WriteLine", "inputs": {"text": "two"}}
    (tmp_path / "part.json").write_text(json.dumps(part), encoding="utf-8")

    await opened(store, tmp_path)

    assert await contents(store, "whole") != before


def test_the_hash_of_parts_has_their_borders() -> None:
    assert source_hash(b"ab", b"c") != source_hash(b"a", b"bc")
