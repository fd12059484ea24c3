"""Definitions in a store: drafts and versions, and what comes from code and from files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast import Holdfast, Status, Workflow, activity, workflow
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.errors import (
    DefinitionError,
    DefinitionNotFound,
    DefinitionNotPublished,
    InvalidDefinition,
    OriginRefused,
    VersionConflict,
)
from holdfast.management.definitions.providers import FileProvider
from holdfast.model.catalog import Source, VersionDetails, Which
from holdfast.model.requests import DispatchDefinition


def document(text: str = "hello", **more: Any) -> dict[str, Any]:
    root = {"id": "say", "type": "WriteLine", "inputs": {"text": text}}
    return {"format": "holdfast/definition@1", "id": "greet", "name": "Greet", "root": root, **more}


async def numbers(runtime: Any) -> list[tuple[int, bool]]:
    return [(row.version, row.published) for row in await runtime.definitions.versions("greet")]


async def text_of(runtime: Any, which: Any) -> Any:
    return (await runtime.definitions.content("greet", which))["root"]["inputs"]["text"]


async def test_a_draft_is_saved_over_until_it_is_published(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    with pytest.raises(DefinitionNotFound):
        await definitions.get("greet")

    await definitions.save_draft(document("one"))
    await definitions.save_draft(document("two", labels=["x"], description="Says it."))
    with pytest.raises(DefinitionNotPublished):
        await definitions.get("greet", Which.PUBLISHED)
    await definitions.publish("greet")
    await definitions.save_draft(document("three"))

    assert await numbers(runtime) == [(2, False), (1, True)]
    assert await text_of(runtime, Which.PUBLISHED) == "two"
    assert await text_of(runtime, Which.LATEST) == "three"
    first = await definitions.get("greet", 1)
    assert (first.details.source, first.details.labels, first.details.description) == ("api", ("x",), "Says it.")


async def test_publish_retract_revert_and_delete(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    for text in ("one", "two"):
        await definitions.save_draft(document(text))
        await definitions.publish("greet")

    await definitions.publish("greet", 1)
    assert await numbers(runtime) == [(2, False), (1, True)]
    await definitions.publish("greet", 2)
    reverted = await definitions.revert("greet", 1)
    assert (reverted.version, reverted.published) == (3, False)
    assert await text_of(runtime, 3) == "one"
    assert await definitions.retract("greet")
    assert not await definitions.retract("greet")
    assert await numbers(runtime) == [(3, False), (2, False), (1, False)]
    assert await definitions.delete_version("greet", 2)
    assert await definitions.delete("greet") == 2
    with pytest.raises(DefinitionNotFound):
        await definitions.versions("greet")


async def test_who_saves_over_somebody_elses_change_is_told(cluster: Any) -> None:
    definitions = (await cluster.node("a")).definitions
    with pytest.raises(VersionConflict):
        await definitions.save_draft(document(), expected_hash="gone")
    first = await definitions.save_draft(document("one"), expected_hash="")
    second = await definitions.save_draft(document("two"), expected_hash=first.content)

    with pytest.raises(VersionConflict) as conflict:
        await definitions.save_draft(document("mine"), expected_hash=first.content)
    assert conflict.value.found == second.content


async def test_problems_refuse_a_publish_and_not_a_draft(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    broken = document()
    broken["root"]["type"] = "Nonsense"

    await definitions.save_draft(broken)
    assert {problem.code for problem in definitions.validate(broken)} == {"unknown-type"}
    with pytest.raises(InvalidDefinition):
        await definitions.publish("greet")
    with pytest.raises(InvalidDefinition):
        await definitions.save_and_publish(broken)

    assert await numbers(runtime) == [(1, False)]


@pytest.mark.parametrize("id", ["sales/greet", ".."])
async def test_a_new_draft_with_an_id_that_no_address_reaches_is_refused(cluster: Any, id: str) -> None:
    definitions = (await cluster.node("a")).definitions
    await definitions.save_draft(document())

    for refused in (definitions.save_draft(document(id=id)), definitions.duplicate("greet", id)):
        with pytest.raises(InvalidDefinition, match="without a slash") as caught:
            await refused
        assert [problem.code for problem in caught.value.problems] == ["unreachable-id"]
    with pytest.raises(DefinitionNotFound):
        await definitions.get(id)


async def test_a_draft_of_before_with_such_an_id_is_still_read_saved_and_copied(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    kept = definitions._made(definitions._engine.definition(document(id="sales/greet")), VersionDetails())
    await runtime.store.save_version(*kept, [])

    await definitions.save_draft(document("again", id="sales/greet"))
    await definitions.duplicate("sales/greet", "greet")
    assert await text_of(runtime, Which.LATEST) == "again"
    assert await definitions.delete("sales/greet") == 1


async def test_instances_stay_on_their_version(cluster: Any) -> None:
    runtime = await cluster.node("a", work=True)
    waits = document(root={"id": "wait", "type": "Event", "inputs": {"event_name": "one"}})
    await runtime.definitions.save_and_publish(waits)
    started = await runtime.inline.dispatch(DispatchDefinition(definition_id="greet"))

    changed = document(root={"id": "wait", "type": "Event", "inputs": {"event_name": "two"}})
    published = await runtime.definitions.save_and_publish(changed)
    await runtime.definitions.delete_version("greet", 1)

    assert (published.version.version, published.live_instances) == (2, 1)
    row = await runtime.row(started.instance_id)
    assert row.definition_version == 1
    assert (await runtime.resume(started.instance_id)).status is Status.FINISHED


async def test_the_same_content_again_is_no_new_version(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    await definitions.save_and_publish(document())
    await definitions.save_and_publish(document())

    assert await numbers(runtime) == [(1, True)]


async def test_duplicates_labels_and_folders(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    await definitions.save_and_publish(
        document(root={"id": "e", "type": "Event", "options": {"can_start": True}, "inputs": {"event_name": "go"}})
    )

    copy = await definitions.duplicate("greet", "greet-2", "Greet again")
    with pytest.raises(VersionConflict):
        await definitions.duplicate("greet", "greet-2")
    labelled = await definitions.label("greet", labels=["a", "b"], folder="orders")

    assert (copy.definition_id, copy.name, copy.published) == ("greet-2", "Greet again", False)
    assert (labelled.details.labels, labelled.details.folder, labelled.published) == (("a", "b"), "orders", True)
    assert len(await runtime.triggers.list("greet")) == 1
    assert (await definitions.save_draft(document("x"))).details.folder == "orders"


# -- workflows as activities -------------------------------------------------------------------------------------------


def part(text: str) -> dict[str, Any]:
    root = {"id": "say", "type": "WriteLine", "inputs": {"text": text}}
    return {
        "format": "holdfast/definition@1",
        "id": "part",
        "name": "Polite part",
        "root": root,
        "options": {"usable_as_activity": True},
    }


async def test_a_workflow_that_is_used_is_part_of_its_users_content(cluster: Any) -> None:
    first, second = await cluster.node("a"), await cluster.node("b", work=True)
    user = document(root={"id": "use", "type": "PolitePart"})
    with pytest.raises(InvalidDefinition):
        await first.definitions.save_and_publish(user)
    await first.definitions.save_and_publish(part("one"))
    await first.definitions.save_draft(user)
    published = (await first.definitions.publish("greet")).version
    await first.definitions.save_and_publish(part("two"))

    # Its user stays with what it was published with, on every node; published again it takes the new one.
    assert (await second.client("i").create_and_run("greet")).lines == ["one"]
    assert await first.definitions.content("greet") == {**user, "version": 1, "name": "Greet"}
    again = (await first.definitions.publish("greet")).version
    assert again.content != published.content
    async with asyncio.timeout(5):
        await until(lambda: _says_two(second))
    await second.definitions.as_activities.refresh()
    assert "PolitePart" in {name for name, _ in second.engine.registry.activity_types}


async def _says_two(runtime: Any) -> bool:
    return bool((await runtime.client(runtime.new_id()).create_and_run("greet")).lines == ["two"])


# -- code --------------------------------------------------------------------------------------------------------------


def coded(text: str) -> Workflow:
    return Workflow(Sequence(WriteLine(text), Event("go")), id="coded")


async def published_text(runtime: Any) -> Any:
    found = await runtime.definitions.content("coded", Which.PUBLISHED)
    return found["root"]["activities"][0]["inputs"]["text"]


async def test_content_becomes_current_once_per_deployment(cluster: Any) -> None:
    """Rule M14: in a rolling deploy old and new nodes do not publish in turns."""
    old, new = await cluster.node("old"), await cluster.node("new")

    await old.definitions.deploy(coded("old"), "monday")
    await new.definitions.deploy(coded("new"), "tuesday")
    await old.definitions.deploy(coded("old"), "monday")  # An old node restarts.
    assert await published_text(new) == "new"
    await old.definitions.deploy(coded("old"), "wednesday")  # A rollback is a deployment.

    assert await published_text(new) == "old"
    assert [(row.version, row.published) for row in await new.definitions.versions("coded")] == [(2, False), (1, True)]


async def test_without_a_name_each_content_is_published_when_it_is_first_seen(cluster: Any) -> None:
    old, new = await cluster.node("old"), await cluster.node("new")
    await old.definitions.deploy(coded("old"))
    await new.definitions.deploy(coded("new"))
    await old.definitions.deploy(coded("old"))

    assert await published_text(new) == "new"
    started = await old.start(coded("old"))  # `start` pins this process' content; by name it is the current one.
    assert started.result.lines == ["old"]
    assert (await new.client("n").create_and_run("coded")).lines == ["new"]


@activity
async def shout(text: str) -> str:
    return text.upper()


@workflow
async def compiled(text: str) -> str:
    return await shout(text + "!")


async def test_trusted_code_comes_only_from_code(cluster: Any) -> None:
    runtime = await cluster.node("a")
    label = await runtime.definitions.deploy(compiled)
    content = await runtime.definitions.content("compiled")
    assert b"$code" in msgspec.json.encode(content)
    assert label.details.source is Source.CODE

    for way in (runtime.definitions.save_draft, runtime.definitions.save_and_publish):
        with pytest.raises(DefinitionError):
            await way({**content, "id": "other"})
    with pytest.raises((DefinitionError, OriginRefused)):
        await runtime.definitions.duplicate("compiled", "other")
    with pytest.raises(OriginRefused):
        await runtime.definitions.save_draft(document(id="compiled"))


# -- files -------------------------------------------------------------------------------------------------------------

YAML = """
format: holdfast/definition@1
id: written
root: {id: say, type: WriteLine, inputs: {text: "from a file"}}
"""


def files(folder: Path) -> Path:
    (folder / "deep").mkdir()
    (folder / "greet.json").write_bytes(msgspec.json.encode(document()))
    (folder / "deep/written.yaml").write_text(YAML, encoding="utf-8")
    (folder / "notes.txt").write_text("not a definition", encoding="utf-8")
    return folder


async def test_an_application_publishes_its_folders(tmp_path: Path) -> None:
    app = Holdfast(store="memory://", workflows=[coded("x"), files(tmp_path)], entry_points=False)
    async with app:
        found, _ = await app.runtime.definitions.list()
        assert {row.definition_id: row.details.source.value for row in found} == {
            "coded": "code",
            "greet": "file",
            "written": "file",
        }
        assert (await app.runtime.client("i").create_and_run("written")).lines == ["from a file"]


async def test_a_folder_with_mistakes_names_them_all(cluster: Any, tmp_path: Path) -> None:
    runtime = await cluster.node("a")
    files(tmp_path)
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "odd.yml").write_text("- a list", encoding="utf-8")

    with pytest.raises(DefinitionError) as refusal:
        await FileProvider([tmp_path]).check(runtime.definitions)

    assert all(name in str(refusal.value) for name in ("broken.json", "odd.yml"))
    with pytest.raises(DefinitionError, match="no file or folder"):
        await FileProvider([tmp_path / "nowhere"]).check(runtime.definitions)


async def until(ready: Callable[[], Awaitable[Any]]) -> None:
    """Ask again and again; a time limit stands around it."""
    while True:
        if await ready():
            return
        await asyncio.sleep(0.01)


async def test_a_watched_folder_follows_its_files(tmp_path: Path) -> None:
    files(tmp_path)
    app = Holdfast(store="memory://", workflows=[tmp_path], watch=True, entry_points=False)
    async with app, asyncio.timeout(30):
        definitions = app.runtime.definitions
        (tmp_path / "greet.json").write_bytes(msgspec.json.encode(document("changed!")))
        await until(lambda: _is_changed(app.runtime))
        (tmp_path / "greet.json").unlink()
        await until(lambda: _is_retracted(app.runtime))
        assert (await definitions.get("written")).published


async def _is_changed(runtime: Any) -> bool:
    return bool(await text_of(runtime, Which.PUBLISHED) == "changed!")


async def _is_retracted(runtime: Any) -> bool:
    return not (await runtime.definitions.get("greet")).published


async def test_a_file_that_breaks_while_it_is_watched_leaves_what_was_there(cluster: Any, tmp_path: Path) -> None:
    runtime = await cluster.node("a")
    provider = FileProvider([files(tmp_path)])
    await provider.provide(runtime.definitions)
    (tmp_path / "greet.json").write_text("{ half a docum", encoding="utf-8")

    assert await provider.refresh(runtime.definitions) == []
    assert list(provider.problems) == [tmp_path / "greet.json"]
    assert await text_of(runtime, Which.PUBLISHED) == "hello"
    (tmp_path / "greet.json").write_bytes(msgspec.json.encode(document("mended")))
    assert await provider.refresh(runtime.definitions) == ["greet"]
    assert not provider.problems
