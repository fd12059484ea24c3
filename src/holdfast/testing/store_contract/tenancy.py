"""Contract of tenancy: tenants with the same ids, keys and names are isolated.

They cannot see, wake, block or delete each other's data.
"""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.catalog import Which
from holdfast.model.commit import ConflictReason
from holdfast.model.guard import idempotency_key
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.stored import BookmarkQuery, InstanceKey, wake_key
from holdfast.model.upkeep import RetentionRule
from holdfast.model.work import DeadLetterRow, Owner, ScheduleRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, loss_of, stored
from holdfast.testing.store_contract.definitions import label, trigger
from holdfast.testing.store_rows import (
    AT,
    FAR_OFF,
    bookmark,
    commit_of,
    content,
    effect,
    incident,
    instance,
    later,
    message,
    settlement,
    stimulus,
    value,
    work,
)

KEY = idempotency_key(operation="start", target="order", key="k")
OURS, THEIRS = "ours", "theirs"


async def _filled(store: Store, tenant: str) -> None:
    """Fill a tenant with one row of each kind. Only the payloads differ."""
    mark = tenant.encode()
    holds = content(tenant, b'{"of": "%s"}' % mark)
    await store.save_version(label(tenant, holds, published=True), holds, [trigger(tenant, holds)])
    await committed(
        store,
        commit_of(
            instance("i", tenant=tenant, state=mark, status="finished", finished=later(1)),
            guards_taken=(KEY,),
            bookmarks_added=(bookmark(tenant, "i", payload=mark),),
            work_added=(work(tenant, id="w", payload=mark), work(tenant, id="dead")),
            effects_added=(effect(tenant, "i", inputs=mark),),
            inbox_added=(stimulus(tenant, id="s", payload=mark, address=7),),
            outbox_added=(message(tenant, id="m", payload=mark),),
            incidents_added=(incident(tenant, "i", id="in", payload=mark),),
            values_added=(value(tenant, "i", "v", mark),),
        ),
    )
    await committed(
        store,
        settlement(
            tenant,
            work_consumed=("dead",),
            dead_letters=(DeadLetterRow(work=work(tenant, id="dead"), reason="attempts", died=AT, error=mark),),
        ),
    )
    await store.put_schedules(
        tenant, "order", [ScheduleRow(tenant=tenant, id="c", definition_id="order", due=FAR_OFF, payload=mark)]
    )


async def _seen(store: Store, tenant: str) -> list[object]:
    """All data of a tenant that its calls return."""
    marks = (await store.find_bookmarks([BookmarkQuery(tenant=tenant, key=wake_key("Paid"), limit=9)])).bookmarks[0]
    return [
        await stored(store, tenant, "i"),
        marks,
        await store.bookmarks_of(tenant, "i"),
        await store.read_journal(tenant, "i"),
        await store.load_values(tenant, "i", ["v"]),
        await store.effects_of(tenant, "i"),
        await store.find_guard(tenant, KEY.ref),
        [list(mail.rows) for mail in await store.find_mail([InstanceKey(tenant, "i")], 10)],
        list(await store.has_mail([(tenant, 7)])),
        await store.list_incidents(tenant),
        await store.list_dead_letters(tenant),
        await store.list_schedules(tenant),
        await store.list_triggers(tenant),
        await store.find_triggers(tenant, [wake_key("Placed")]),
        await store.find_version(tenant, "order", Which.LATEST),
        (await store.search(InstanceQuery(tenant=tenant))).items,
        await store.count(tenant, InstanceFilter()),
        await store.export_instance(tenant, "i"),
        await store.stats(tenant),
    ]


class TenancyContract(ContractBase):
    async def test_tenants_with_the_same_names_keep_apart(self, store: Store) -> None:
        await _filled(store, OURS)
        alone = await _seen(store, OURS)

        await _filled(store, THEIRS)

        assert await _seen(store, OURS) == alone
        assert (await store.stats()).work_ready == 2
        other = await stored(store, THEIRS, "i")
        assert other is not None
        assert other.state == THEIRS.encode()

    async def test_changes_of_one_tenant_do_not_affect_another(self, store: Store) -> None:
        await _filled(store, OURS)
        await _filled(store, THEIRS)
        before = await _seen(store, THEIRS)

        await committed(
            store,
            commit_of(
                instance("i", 2, tenant=OURS, status="finished", finished=later(2)),
                bookmarks_burned=(bookmark(OURS, "i").ref,),
                work_consumed=("w",),
                effects_dropped=(1,),
                inbox_consumed=("s",),
                guards_released=(KEY.ref,),
                incidents_resolved=("in",),
                values_dropped=("v",),
            ),
        )
        await store.retract(OURS, "order")
        await store.delete_version(OURS, "order", 1)
        await store.put_schedules(OURS, "order", [])
        await store.delete_dead_letters(OURS, ["dead"])
        await store.own_effect(OURS, "i", effect(OURS, "i").ref, Owner("n", 1))
        assert await store.delete_instances(OURS, ["i"]) == 1
        await store.delete_unused_content(100)

        assert await _seen(store, THEIRS) == before
        assert await stored(store, OURS, "i") is None

    async def test_rows_of_another_tenant_are_no_guards(self, store: Store) -> None:
        await store.enqueue([work(THEIRS, id="w")])
        await store.put_inbox([stimulus(THEIRS, id="s")])

        losses = [
            await loss_of(store, commit_of(instance("i", tenant=OURS), work_consumed=("w",))),
            await loss_of(store, commit_of(instance("i", tenant=OURS), inbox_consumed=("s",))),
        ]

        assert [loss.reason for loss in losses] == [ConflictReason.WORK, ConflictReason.INBOX]
        assert (await store.stats(THEIRS)).work_ready == 1

    async def test_one_batch_may_hold_commits_of_many_tenants(self, store: Store) -> None:
        await committed(store, commit_of(instance("i", tenant=OURS)), commit_of(instance("i", tenant=THEIRS)))

        assert len(await store.versions_of([InstanceKey(OURS, "i"), InstanceKey(THEIRS, "i")])) == 2

    async def test_claims_and_sweeps_span_tenants_and_say_whose(self, store: Store) -> None:
        for tenant in (OURS, THEIRS):
            await committed(
                store,
                commit_of(
                    instance("i", tenant=tenant),
                    bookmarks_added=(bookmark(tenant, "i"),),
                    work_added=(work(tenant, id="w"),),
                    effects_added=(effect(tenant, "i", owner=Owner("dead", 1)),),
                    outbox_added=(message(tenant, id="m"),),
                    inbox_added=(stimulus(tenant, id="s", expires=AT), stimulus(tenant, id="kept")),
                ),
            )

        async with store.claim(["default"], 10) as claim:
            assert sorted(row.tenant for row in claim.rows) == [OURS, THEIRS]
        assert [[row.tenant for row in await store.lost_effects(one, 10)] for one in (OURS, THEIRS)] == [
            [OURS],
            [THEIRS],
        ]
        assert sorted(row.tenant for row in await store.take_outbox(10, timedelta(1))) == [OURS, THEIRS]
        assert sorted(mark.tenant for _, mark in await store.stranded_inbox(10)) == [OURS, THEIRS]
        assert sorted(row.tenant for row in await store.expire_inbox(10)) == [OURS, THEIRS]

    async def test_retention_of_one_tenant(self, store: Store) -> None:
        for tenant in (OURS, THEIRS):
            row = instance("i", tenant=tenant, status="finished", finished=later(1))
            await committed(store, commit_of(row))
        rule = RetentionRule(finished_before=FAR_OFF)

        assert await store.find_expired(OURS, rule, 10) == ["i"]
        assert await store.delete_instances(OURS, ["i"]) == 1
        assert list(await store.find_expired(OURS, rule, 10)) == []
        assert await store.find_expired(THEIRS, rule, 10) == ["i"]
