"""Contract of definitions: immutable content, movable labels, triggers, and the origin of code."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.errors import OriginRefused, VersionConflict
from holdfast.model.catalog import (
    DefinitionContent,
    DefinitionQuery,
    DefinitionVersion,
    NewVersion,
    Origin,
    TriggerRow,
    Which,
)
from holdfast.model.stored import wake_key
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import AT, commit_of, content, instance, later, work


def label(tenant: str, holds: DefinitionContent, version: int = 1, **given: Any) -> DefinitionVersion:
    fields: dict[str, Any] = {"definition_id": "order", "name": "Order", "created": AT, "metadata": b"{}"}
    return DefinitionVersion(tenant=tenant, version=version, content=holds.hash, **(fields | given))


def trigger(tenant: str, holds: DefinitionContent, name: str = "Placed", **given: Any) -> TriggerRow:
    fields: dict[str, Any] = {"definition_id": "order", "id": name, "version": 1, "payload": b"{}"}
    return TriggerRow(
        tenant=tenant, content=holds.hash, key=wake_key(name), type=name, activity_id="start", **(fields | given)
    )


CODE = b'{"root": {"inputs": {"x": {"$code": "helper(x)"}}}}'


class DefinitionContract(ContractBase):
    async def test_content_and_label_are_read_back(self, store: Store, tenant: str) -> None:
        holds = content(tenant, b'{"id": "order", "name": "B\xc3\xb6"}')

        saved = await store.save_version(label(tenant, holds, name="Bö"), holds)

        assert saved == label(tenant, holds, name="Bö", latest=True)
        assert await store.load_content(tenant, holds.hash) == holds
        assert await store.load_content(tenant, "unknown") is None
        assert await store.find_version(tenant, "order", 1) == saved
        assert await store.find_version(tenant, "order", Which.LATEST) == saved
        assert await store.find_version(tenant, "order", Which.PUBLISHED) is None
        assert await store.find_version(tenant, "unknown", 1) is None

    async def test_content_is_immutable(self, store: Store, tenant: str) -> None:
        holds = content(tenant)
        await store.save_version(label(tenant, holds), holds)

        await store.save_version(label(tenant, holds, 2), replace(holds, created=later(5)))

        assert await store.load_content(tenant, holds.hash) == holds

    async def test_a_draft_is_saved_over_and_its_old_content_stays(self, store: Store, tenant: str) -> None:
        """M14: an instance of a draft keeps the content it was started with."""
        old, new = content(tenant, b'{"v": 1}'), content(tenant, b'{"v": 2}')
        await store.save_version(label(tenant, old), old)

        await store.save_version(label(tenant, new, name="New"), new)

        found = await store.find_version(tenant, "order", 1)
        assert found == label(tenant, new, name="New")
        assert await store.load_content(tenant, old.hash) == old

    async def test_of_two_that_save_over_the_same_content_one_does(self, store: Store, tenant: str) -> None:
        first, *others = [content(tenant, b'{"v": %d}' % number) for number in range(6)]
        await store.save_version(label(tenant, first), first, expected="")

        outcomes = await asyncio.gather(
            *(store.save_version(label(tenant, each), each, expected=first.hash) for each in others),
            return_exceptions=True,
        )

        saved = [item for item in outcomes if not isinstance(item, BaseException)]
        assert len(saved) == 1
        assert all(isinstance(item, VersionConflict) for item in outcomes if isinstance(item, BaseException))
        assert await store.find_version(tenant, "order", Which.LATEST) == saved[0]
        with pytest.raises(VersionConflict):
            await store.save_version(label(tenant, first, 2), first, expected="")
        assert await store.find_version(tenant, "order", 2) is None

    async def test_many_new_definitions_are_published_at_once(self, store: Store, tenant: str) -> None:
        names = [f"d{number:03}" for number in range(120)]
        holds = {name: content(tenant, b'{"id": "%s"}' % name.encode()) for name in names}
        await store.save_version(label(tenant, holds["d007"], definition_id="d007"), holds["d007"])
        epoch = await store.epoch()

        saved = await store.publish_new(
            tenant,
            [
                NewVersion(
                    label=label(tenant, holds[name], definition_id=name),
                    content=holds[name],
                    triggers=[trigger(tenant, holds[name], definition_id=name)],
                )
                for name in names
            ],
        )

        assert [row.definition_id for row in saved] == [name for name in names if name != "d007"]
        assert saved[0] == label(tenant, holds["d000"], definition_id="d000", published=True, latest=True)
        assert await store.find_version(tenant, "d000") == saved[0]
        assert await store.find_version(tenant, "d007") is None
        assert await store.load_content(tenant, holds["d119"].hash) == holds["d119"]
        assert len(await store.list_triggers(tenant)) == 119
        assert await store.epoch() > epoch

    async def test_of_two_that_publish_new_definitions_each_is_published_once(self, store: Store, tenant: str) -> None:
        holds = [content(tenant, b'{"v": %d}' % number) for number in range(20)]
        versions = [
            NewVersion(label=label(tenant, each, definition_id=f"d{number}"), content=each)
            for number, each in enumerate(holds)
        ]

        first, second = await asyncio.gather(
            store.publish_new(tenant, versions[:15]), store.publish_new(tenant, versions[5:])
        )

        assert sorted(row.definition_id for row in (*first, *second)) == sorted(f"d{number}" for number in range(20))

    async def test_new_definitions_of_documents_hold_no_code(self, store: Store, tenant: str) -> None:
        code = content(tenant, CODE, origin=Origin.CODE)
        await store.save_version(label(tenant, code), code)
        await store.delete_version(tenant, "order", 1)
        document = replace(code, origin=Origin.DOCUMENT)

        with pytest.raises(OriginRefused):
            await store.publish_new(tenant, [NewVersion(label=label(tenant, document), content=document)])

    async def test_one_version_is_published_and_the_highest_is_the_latest(self, store: Store, tenant: str) -> None:
        holds = [content(tenant, b'{"v": %d}' % number) for number in range(3)]
        for number, each in enumerate(holds):
            await store.save_version(label(tenant, each, number + 1, published=number < 2), each)

        versions, total = await store.list_versions(tenant, DefinitionQuery(which=Which.ALL, sort="version"))

        assert total == 3
        assert [(row.version, row.published, row.latest) for row in versions] == [
            (1, False, False),
            (2, True, False),
            (3, False, True),
        ]
        published = await store.find_version(tenant, "order")
        assert published is not None
        assert published.version == 2

    async def test_triggers_are_those_of_the_published_version(self, store: Store, tenant: str) -> None:
        first, second = content(tenant, b'{"v": 1}'), content(tenant, b'{"v": 2}')
        old = [trigger(tenant, first, "Placed"), trigger(tenant, first, "Paid")]
        new = trigger(tenant, second, "Placed", version=2)
        await store.save_version(label(tenant, first, published=True), first, old)
        before = await store.find_triggers(tenant, [wake_key("Placed"), wake_key("Nothing")])

        await store.save_version(label(tenant, second, 2), second, [new])
        draft = await store.list_triggers(tenant)
        await store.save_version(label(tenant, second, 2, published=True), second, [new])

        assert before == [old[0]]
        assert draft == [old[1], old[0]]
        assert await store.list_triggers(tenant) == [new]
        assert list(await store.find_triggers(tenant, [wake_key("Paid")])) == []

    async def test_retracting_takes_the_triggers_away(self, store: Store, tenant: str) -> None:
        holds = content(tenant)
        await store.save_version(label(tenant, holds, published=True), holds, [trigger(tenant, holds)])

        assert await store.retract(tenant, "order")
        assert not await store.retract(tenant, "order")

        assert list(await store.list_triggers(tenant)) == []
        assert await store.find_version(tenant, "order") is None
        assert await store.find_version(tenant, "order", Which.LATEST) is not None

    async def test_a_deleted_version_leaves_its_content(self, store: Store, tenant: str) -> None:
        old, new = content(tenant, b'{"v": 1}'), content(tenant, b'{"v": 2}')
        await store.save_version(label(tenant, old), old)
        await store.save_version(label(tenant, new, 2, published=True), new, [trigger(tenant, new)])

        assert await store.delete_version(tenant, "order", 2)
        assert not await store.delete_version(tenant, "order", 2)

        latest = await store.find_version(tenant, "order", Which.LATEST)
        assert latest is not None
        assert latest.version == 1
        assert list(await store.list_triggers(tenant)) == []
        assert await store.load_content(tenant, new.hash) == new

    async def test_unused_content_is_deleted(self, store: Store, tenant: str) -> None:
        used, pinned, queued, unused = (content(tenant, b'{"v": %d}' % number) for number in range(4))
        await store.save_version(label(tenant, used), used)
        for number, each in enumerate((pinned, queued, unused), 2):
            await store.save_version(label(tenant, each, number), each)
            await store.delete_version(tenant, "order", number)
        await committed(store, commit_of(instance("i", tenant=tenant, content=pinned.hash)))
        await store.enqueue([work(tenant, content=queued.hash)])

        assert await store.delete_unused_content(100) == 1

        found = [await store.load_content(tenant, each.hash) for each in (used, pinned, queued, unused)]
        assert found == [used, pinned, queued, None]

    async def test_the_epoch_grows_with_each_change(self, store: Store, another: Store, tenant: str) -> None:
        holds = content(tenant)
        epochs = [await store.epoch()]
        await store.save_version(label(tenant, holds, published=True), holds)
        epochs.append(await another.epoch())
        await store.retract(tenant, "order")
        epochs.append((await another.load([])).epoch)
        await store.delete_version(tenant, "order", 1)
        epochs.append((await another.find_bookmarks([])).epoch)

        assert epochs == sorted(set(epochs))

    async def test_lists_are_filtered_sorted_and_paged(self, store: Store, tenant: str) -> None:
        for number, (name, identity) in enumerate([("beta", "x1"), ("Alpha", "x2"), ("gamma", "Y3")]):
            holds = content(tenant, b'{"v": %d}' % number)
            row = label(tenant, holds, definition_id=identity, name=name, created=later(-number), published=number == 1)
            await store.save_version(row, holds)

        async def listed(**asked: Any) -> list[str]:
            return [row.name for row in (await store.list_versions(tenant, DefinitionQuery(**asked)))[0]]

        assert await listed() == ["Alpha", "beta", "gamma"]
        assert await listed(descending=True) == ["gamma", "beta", "Alpha"]
        assert await listed(sort="created") == ["gamma", "Alpha", "beta"]
        assert await listed(which=Which.PUBLISHED) == ["Alpha"]
        assert await listed(definition_ids=("x1", "Y3")) == ["beta", "gamma"]
        assert await listed(search="ALP") == ["Alpha"]
        assert await listed(search="y3") == ["gamma"]
        assert await listed(search="%") == []
        page, total = await store.list_versions(tenant, DefinitionQuery(limit=1, offset=1))
        assert ([row.name for row in page], total) == (["beta"], 3)

    async def test_code_comes_only_from_code(self, store: Store, tenant: str) -> None:
        """H11: a document cannot introduce trusted code, neither by content nor by taking over a definition."""
        code, sneaked = content(tenant, CODE, Origin.CODE), content(tenant, CODE)
        innocent = content(tenant, b'{"root": {"inputs": {"x": {"$literal": {"$code": "data"}}}}}')

        with pytest.raises(OriginRefused, match=r"\$code"):
            await store.save_version(label(tenant, sneaked, definition_id="other"), sneaked)
        await store.save_version(label(tenant, innocent, definition_id="literal"), innocent)
        await store.deploy(label(tenant, code), code, [], "d1")
        with pytest.raises(OriginRefused, match="written in code"):
            await store.save_version(label(tenant, innocent, 2), innocent)

        assert await store.load_content(tenant, code.hash) == code
        assert await store.find_version(tenant, "order", 2) is None

    async def test_code_becomes_current_once_per_deployment(self, store: Store, another: Store, tenant: str) -> None:
        """M14: in a rolling deploy, nodes with old and new code restart in turns; the new version stays current."""
        old = content(tenant, b'{"v": 1}', Origin.CODE)
        new = content(tenant, b'{"v": 2}', Origin.CODE)

        async def start(handle: Store, holds: DefinitionContent, deployment: str) -> tuple[int, str]:
            made = await handle.deploy(label(tenant, holds), holds, [trigger(tenant, holds)], deployment)
            current = await handle.find_version(tenant, "order")
            assert current is not None
            assert [row.content for row in await handle.list_triggers(tenant)] == [current.content]
            return made.version, current.content

        assert await start(store, old, "monday") == (1, old.hash)
        assert await start(another, new, "tuesday") == (2, new.hash)
        assert await start(store, old, "monday") == (1, new.hash)
        assert await start(another, new, "tuesday") == (2, new.hash)
        assert await start(store, old, "wednesday: rolled back") == (1, old.hash)
        assert [row.version for row in await store.list_triggers(tenant)] == [1]

    async def test_many_nodes_deploy_the_same_code_at_once(self, store: Store, another: Store, tenant: str) -> None:
        holds = content(tenant, b'{"v": 1}', Origin.CODE)

        made = await asyncio.gather(
            *(
                (store, another)[number % 2].deploy(label(tenant, holds), holds, [trigger(tenant, holds)], "monday")
                for number in range(10)
            )
        )

        assert {row.version for row in made} == {1}
        versions, total = await store.list_versions(tenant, DefinitionQuery(which=Which.ALL))
        assert (total, versions[0].published) == (1, True)
        assert len(await store.list_triggers(tenant)) == 1
