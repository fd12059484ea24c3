"""Contract of retention, export, import and statistics."""

from __future__ import annotations

import pytest
from msgspec import json
from msgspec.structs import replace

from holdfast.errors import AlreadyStored, DeletionRefused
from holdfast.model.commit import Commit
from holdfast.model.guard import activation_slot, idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.model.upkeep import InstanceExport, RetentionRule
from holdfast.model.work import NO_OWNER, DeadLetterRow, Owner
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, stored
from holdfast.testing.store_rows import (
    AT,
    FAR_OFF,
    bookmark,
    commit_of,
    effect,
    incident,
    instance,
    later,
    message,
    record,
    segment,
    stimulus,
    value,
    work,
)


def everything(tenant: str, name: str, status: str = "finished") -> Commit:
    """A commit with a row of the instance in every table."""
    row = instance(name, tenant=tenant, status=status, finished=later(1), incidents=1)
    return commit_of(
        row,
        journal=segment(row, b"entries of " + name.encode()),
        guards_taken=(
            idempotency_key(operation="start", target="order", key=name),
            activation_slot(strategy="singleton", definition_id=name),
        ),
        bookmarks_added=(bookmark(tenant, name, 1), bookmark(tenant, name, 2, "Other", correlation=5)),
        work_added=(work(tenant, instance_id=name, kind="timer", due=FAR_OFF),),
        effects_added=(effect(tenant, name, owner=Owner("n", 3)),),
        inbox_added=(stimulus(tenant, instance_id=name),),
        outbox_added=(message(tenant, instance_id=name),),
        incidents_added=(incident(tenant, name),),
        values_added=(value(tenant, name, "v"),),
        dead_letters=(DeadLetterRow(work=work(tenant, instance_id=name), reason="attempts", died=AT),),
        records=(record(tenant, f"of {name}", instance_id=name),),
    )


class RetentionContract(ContractBase):
    async def test_an_instance_is_deleted_from_every_table(self, store: Store, tenant: str) -> None:
        await committed(store, everything(tenant, "gone"), everything(tenant, "stays"))
        for name in ("gone", "stays"):  # the first segment may be stored in the instance's row
            second = instance(name, 2, tenant=tenant, status="finished", finished=later(1))
            await committed(store, commit_of(second))
        before = await self.rows_left(store, tenant, "gone")
        other = await self.rows_left(store, tenant, "stays")
        assert all(before.values()), f"the test forgot a table: {before}"

        assert await store.delete_instances(tenant, ["gone", "unknown", "gone"]) == 1

        assert not any((await self.rows_left(store, tenant, "gone")).values())
        assert await self.rows_left(store, tenant, "stays") == other

    async def test_live_instances_are_not_deleted(self, store: Store, tenant: str) -> None:
        await committed(
            store,
            commit_of(instance("lives", tenant=tenant)),
            everything(tenant, "done"),
            everything(tenant, "f", "faulted"),
        )

        with pytest.raises(DeletionRefused, match="lives"):
            await store.delete_instances(tenant, ["done", "lives"])

        assert len(await store.versions_of([InstanceKey(tenant, "done"), InstanceKey(tenant, "lives")])) == 2
        assert await store.delete_instances(tenant, ["done", "f"]) == 2

    async def test_an_instance_with_a_live_child_or_parent_stays(self, store: Store, tenant: str) -> None:
        def row(name: str, parent: str | None, status: str) -> Commit:
            finished = later(1) if status == "finished" else None
            return commit_of(instance(name, tenant=tenant, parent_id=parent, status=status, finished=finished))

        await committed(
            store,
            row("parent", None, "finished"),
            row("child", "parent", "suspended"),
            row("root", None, "suspended"),
            row("leaf", "root", "finished"),
            row("free", None, "finished"),
            row("orphan", "deleted long ago", "finished"),
        )
        rule = RetentionRule(finished_before=FAR_OFF)

        assert sorted(await store.find_expired(tenant, rule, 10)) == ["free", "orphan"]
        for kept in ("parent", "leaf"):
            with pytest.raises(DeletionRefused, match=kept):
                await store.delete_instances(tenant, [kept])

    async def test_retention_rules_select_instances(self, store: Store, tenant: str) -> None:
        rows = [
            ("old", "finished", 1, "order"),
            ("older", "canceled", 0, "order"),
            ("young", "finished", 100, "order"),
            ("other", "finished", 2, "other"),
            ("faulted", "faulted", 1, "order"),
        ]
        await committed(
            store,
            *(
                commit_of(instance(name, tenant=tenant, status=status, finished=later(at), definition_id=definition))
                for name, status, at, definition in rows
            ),
            commit_of(instance("lives", tenant=tenant)),
        )

        async def expired(rule: RetentionRule, limit: int = 10) -> list[str]:
            return list(await store.find_expired(tenant, rule, limit))

        before = RetentionRule(finished_before=later(50))
        assert await expired(before) == ["older", "old", "other"]
        assert await expired(before, 2) == ["older", "old"]
        assert await expired(replace(before, statuses=("faulted",))) == ["faulted"]
        assert await expired(replace(before, definition_ids=("other",))) == ["other"]
        assert await expired(replace(before, statuses=("suspended",), finished_before=FAR_OFF)) == []

    async def test_export_and_import_move_an_instance(self, store: Store, tenant: str) -> None:
        await committed(store, everything(tenant, "i"))
        await committed(store, commit_of(instance("i", 2, tenant=tenant, status="finished", finished=later(2))))
        assert await store.export_instance(tenant, "unknown") is None
        export = await store.export_instance(tenant, "i")
        assert export is not None
        traveled = json.decode(json.encode(export), type=InstanceExport)
        before = await self.rows_left(store, tenant, "i")

        await store.delete_instances(tenant, ["i"])
        await store.import_instance(traveled)

        assert traveled == export
        assert await stored(store, tenant, "i") == export.instance
        again = await store.export_instance(tenant, "i")
        assert again is not None
        assert again.effects == tuple(replace(row, owner=NO_OWNER) for row in export.effects)
        assert replace(again, effects=()) == replace(export, effects=())
        left = await self.rows_left(store, tenant, "i")
        changed = {name for name, rows in left.items() if rows != before[name]}
        assert changed <= {"dead_letters", "dead_letter", "journal"}  # of the journal, the exported part is restored

    async def test_an_instance_whose_key_another_holds_is_not_imported(self, store: Store, tenant: str) -> None:
        await committed(store, everything(tenant, "i"))
        export = await store.export_instance(tenant, "i")
        assert export is not None

        with pytest.raises(AlreadyStored, match="j"):
            await store.import_instance(InstanceExport(instance=replace(export.instance, id="j"), guards=export.guards))

        assert await stored(store, tenant, "j") is None

    async def test_an_instance_that_exists_is_not_imported_over(self, store: Store, tenant: str) -> None:
        await committed(store, everything(tenant, "i"))
        export = await store.export_instance(tenant, "i")
        assert export is not None

        with pytest.raises(AlreadyStored, match="i"):
            await store.import_instance(replace(export, instance=replace(export.instance, state=b"other")))

        assert await stored(store, tenant, "i") == export.instance

    async def test_an_imported_instance_goes_on(self, store: Store, another: Store, tenant: str) -> None:
        mark = bookmark(tenant, "i")
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(mark,)))
        export = await store.export_instance(tenant, "i")
        assert export is not None
        moved = replace(
            export,
            instance=replace(export.instance, id="j"),
            bookmarks=tuple(replace(row, instance_id="j") for row in export.bookmarks),
        )

        await another.import_instance(moved)

        await committed(another, commit_of(instance("j", 2, tenant=tenant), bookmarks_burned=(mark.ref,)))
        assert list(await store.bookmarks_of(tenant, "j")) == []
        assert list(await store.bookmarks_of(tenant, "i")) == [mark]

    async def test_figures(self, store: Store, tenant: str) -> None:
        await committed(store, everything(tenant, "a"), commit_of(instance("b", tenant=tenant)))
        await store.enqueue([work(tenant, created=later(3)), work(tenant, created=later(2))])

        figures = await store.stats(tenant)

        assert figures.instances == {"finished": 1, "suspended": 1}
        assert (figures.bookmarks, figures.work_ready, figures.work_later, figures.effects) == (2, 2, 1, 1)
        assert (figures.inbox, figures.outbox, figures.dead_letters, figures.incidents_open) == (1, 1, 1, 1)
        assert figures.oldest_ready == later(2)
        assert figures.oldest_outbox is not None
        assert (await store.stats("unknown")).oldest_outbox is None
        capped = await store.stats(tenant, at_most=1)
        assert (capped.bookmarks, capped.effects, capped.instances) == (1, 1, figures.instances)
        assert await store.stats() == figures
        assert (await store.stats("unknown")).instances == {}

    async def test_contents_of_live_instances_are_listed(self, store: Store, tenant: str) -> None:
        await committed(
            store,
            *(commit_of(instance(name, tenant=tenant, content="old")) for name in ("a", "b")),
            commit_of(instance("c", tenant=tenant, content="new", status="running")),
            commit_of(instance("d", tenant=tenant, content="gone", status="finished", finished=later(1))),
        )

        assert await store.live_contents() == {(tenant, "old"): 2, (tenant, "new"): 1}

    async def test_instances_without_a_waker_are_found(self, store: Store, tenant: str) -> None:
        """M11: every live instance has a waker."""
        open_incident = incident(tenant, "incident")
        await committed(
            store,
            commit_of(instance("stuck", tenant=tenant)),
            commit_of(
                instance("stuck-too", tenant=tenant), incidents_added=(incident(tenant, "stuck-too", open=False),)
            ),
            commit_of(instance("ended", tenant=tenant, status="faulted", finished=later(1))),
            commit_of(instance("sleeps", tenant=tenant), bookmarks_added=(bookmark(tenant, "sleeps"),)),
            commit_of(instance("queued", tenant=tenant), work_added=(work(tenant, instance_id="queued"),)),
            commit_of(instance("runs", tenant=tenant), effects_added=(effect(tenant, "runs"),)),
            commit_of(instance("hears", tenant=tenant), inbox_added=(stimulus(tenant, instance_id="hears"),)),
            commit_of(instance("incident", tenant=tenant), incidents_added=(open_incident,)),
        )

        assert await store.find_stuck(100) == [InstanceKey(tenant, "stuck"), InstanceKey(tenant, "stuck-too")]
        assert len(await store.find_stuck(1)) == 1

    async def test_migrating_again_does_nothing(self, store: Store) -> None:
        report = await store.migrate()

        assert (report.applied, report.pending) == ((), ())
        assert await store.migrate(check=True) == report
