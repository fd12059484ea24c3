"""Definitions in files: at the start all of them or none, while they are watched each on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import WriteLine
from holdfast.errors import DefinitionError, DefinitionNotFound
from holdfast.management.definitions.providers import FileProvider
from holdfast.model.catalog import Which
from holdfast.persistence.memory import MemoryStore

BROKEN = {"type": "Nonsense", "id": "say"}


def says(identity: str, text: str = "hello", **more: Any) -> dict[str, Any]:
    root = {"id": "say", "type": "WriteLine", "inputs": {"text": text}}
    return {"format": "holdfast/definition@1", "id": identity, "root": root, **more}


def endpoint(name: str) -> dict[str, Any]:
    root = {"id": "ask", "type": "HttpEndpoint", "options": {"can_start": True}, "inputs": {"path": "orders"}}
    return says(name, root=root)


def put(folder: Path, name: str, found: Any) -> Path:
    path = folder / name
    path.write_bytes(msgspec.json.encode(found))
    return path


async def published(runtime: Any) -> list[str]:
    rows, _ = await runtime.definitions.list()
    return sorted(row.definition_id for row in rows if row.published)


async def refused(folder: Path, *workflows: Any) -> str:
    """What an application with these says; its store is as it was."""
    store = MemoryStore()
    with pytest.raises(DefinitionError) as refusal:
        async with Holdfast(store=store, workflows=[*workflows, folder], entry_points=False):
            pass
    async with Holdfast(store=store, entry_points=False) as app:
        assert (await app.runtime.definitions.list())[1] == 0
    return str(refusal.value)


# -- at the start ------------------------------------------------------------------------------------------------------


async def test_one_bad_file_keeps_all_others_from_being_published(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("a"))
    put(tmp_path, "b.json", says("b", root=BROKEN))
    put(tmp_path, "c.json", says("c"))
    (tmp_path / "d.json").write_text("{", encoding="utf-8")

    told = await refused(tmp_path, Workflow(WriteLine("x"), id="coded"))

    assert "b.json" in told
    assert "d.json" in told
    assert "a.json" not in told
    assert "nothing was published" in told


async def test_files_that_are_named_one_by_one_are_one_set(tmp_path: Path) -> None:
    good, bad = put(tmp_path, "a.json", says("a")), put(tmp_path, "b.json", says("b", root=BROKEN))

    await refused(bad, good)


async def test_one_bad_workflow_in_code_keeps_the_others_from_being_published(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("a"))

    await refused(tmp_path, Workflow(WriteLine("x"), id="good"), Workflow(WriteLine("x"), id="bad/../"))


async def test_an_id_stands_in_one_file(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("same", "one"))
    put(tmp_path, "b.json", says("same", "two"))

    told = await refused(tmp_path)

    assert "b.json" in told
    assert "'same'" in told
    assert "a.json" in told


async def test_a_route_stands_in_one_file(tmp_path: Path) -> None:
    put(tmp_path, "a.json", endpoint("a"))
    put(tmp_path, "b.json", endpoint("b"))

    assert "belongs to the workflow 'a'" in await refused(tmp_path)


async def test_an_id_of_code_is_no_id_of_a_file(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("coded"))
    put(tmp_path, "b.json", says("b"))

    assert "written in code" in await refused(tmp_path, Workflow(WriteLine("x"), id="coded"))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="only Linux has it")
async def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("a"))
    (tmp_path / "b.json").symlink_to("/proc/self/mem")  # a file that exists, and that nobody can read at its beginning

    assert "b.json" in await refused(tmp_path)


async def test_files_may_use_each_other_in_any_order(tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("a", root={"type": "Greeting", "id": "greeting"}))
    put(tmp_path, "z.json", says("z", "hi", name="Greeting", options={"usable_as_activity": True}))

    async with Holdfast(store="memory://", workflows=[tmp_path], entry_points=False) as app:
        assert (await app.runtime.client("c").create_and_run("a")).lines == ["hi"]


# -- while they are watched --------------------------------------------------------------------------------------------


async def watched(cluster: Any, folder: Path) -> tuple[Any, FileProvider]:
    runtime, provider = await cluster.node("a"), FileProvider([folder])
    await provider.provide(runtime.definitions)
    return runtime, provider


async def test_a_file_that_breaks_leaves_what_was_there_and_the_others_go_on(cluster: Any, tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("a"))
    runtime, provider = await watched(cluster, tmp_path)
    put(tmp_path, "a.json", says("a", root=BROKEN))
    put(tmp_path, "b.json", says("b"))

    assert await provider.refresh(runtime.definitions) == ["b"]
    assert list(provider.problems) == [tmp_path / "a.json"]
    assert await published(runtime) == ["a", "b"]


async def test_a_file_is_tried_again_when_what_it_lacked_has_come(cluster: Any, tmp_path: Path) -> None:
    runtime, provider = await watched(cluster, tmp_path)
    put(tmp_path, "a.json", says("a", root={"type": "Greeting", "id": "greeting"}))
    assert await provider.refresh(runtime.definitions) == []
    put(tmp_path, "z.json", says("z", "hi", name="Greeting", options={"usable_as_activity": True}))

    assert set(await provider.refresh(runtime.definitions)) == {"a", "z"}
    assert not provider.problems


async def test_a_file_that_takes_another_id_gives_its_old_one_up(cluster: Any, tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("old"))
    runtime, provider = await watched(cluster, tmp_path)
    put(tmp_path, "a.json", says("newer"))

    assert set(await provider.refresh(runtime.definitions)) == {"old", "newer"}
    assert await published(runtime) == ["newer"]


async def test_a_second_file_takes_no_id_from_the_first(cluster: Any, tmp_path: Path) -> None:
    put(tmp_path, "a.json", says("same", "one"))
    runtime, provider = await watched(cluster, tmp_path)
    put(tmp_path, "b.json", says("same", "two"))

    assert await provider.refresh(runtime.definitions) == []
    assert list(provider.problems) == [tmp_path / "b.json"]
    text = (await runtime.definitions.content("same", Which.PUBLISHED))["root"]["inputs"]["text"]
    assert text == "one"


async def test_a_file_that_moved_stays_published(cluster: Any, tmp_path: Path) -> None:
    path = put(tmp_path, "a.json", says("a"))
    runtime, provider = await watched(cluster, tmp_path)
    path.rename(tmp_path / "b.json")

    for _ in range(3):
        await provider.refresh(runtime.definitions)
        assert await published(runtime) == ["a"]
    assert not provider.problems


async def test_a_folder_that_is_away_retracts_nothing(cluster: Any, tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    put(folder, "a.json", says("a"))
    runtime, provider = await watched(cluster, folder)
    folder.rename(tmp_path / "elsewhere")

    for _ in range(3):
        assert await provider.refresh(runtime.definitions) == []
    assert await published(runtime) == ["a"]


async def test_a_definition_that_somebody_deleted_meanwhile_is_gone_with_its_file(cluster: Any, tmp_path: Path) -> None:
    path = put(tmp_path, "a.json", says("a"))
    runtime, provider = await watched(cluster, tmp_path)
    await runtime.definitions.delete("a")
    path.unlink()

    assert await provider.refresh(runtime.definitions) == []
    with pytest.raises(DefinitionNotFound):
        await runtime.definitions.get("a")
