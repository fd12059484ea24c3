"""Stateful comparison of a store with the memory store: random steps must give the same answers.

    def test_my_store_answers_as_memory_does():
        compare(open_my_store)

`open_my_store` is an async function that opens a store on an empty database. Ids come from small pools, so that commits
conflict, keys clash and rows are consumed twice. Times lie in the past or far ahead, so that clocks agree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from itertools import count
from typing import Any, ClassVar, TypeVar

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from holdfast.errors import AlreadyStored, DeletionRefused
from holdfast.model.commit import Commit, CommitOutcome, Failed
from holdfast.model.guard import Guard, activation_slot, idempotency_key
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceKey, wake_key
from holdfast.model.upkeep import RetentionRule, StoreStats
from holdfast.model.work import NO_OWNER, EffectRef, Owner, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.ports import Store
from holdfast.testing.store_rows import (
    FAR_OFF,
    bookmark,
    commit_of,
    effect,
    incident,
    instance,
    later,
    message,
    record,
    stimulus,
    value,
    work,
)

T = TypeVar("T")
Opener = Callable[[], Awaitable[Store]]

TENANTS = st.sampled_from(["", "acme"])
NAMES = st.sampled_from(["a", "b", "c"])
EVENTS = st.sampled_from(["Paid", "Shipped"])
SMALL = st.integers(1, 3)
STATUSES = st.sampled_from(["running", "suspended", "finished", "faulted", "canceling"])
GUARDS: st.SearchStrategy[Guard] = st.one_of(
    st.builds(lambda key: idempotency_key(operation="start", target="t", key=key), NAMES),
    st.builds(lambda name: activation_slot(strategy="singleton", definition_id=name), NAMES),
)
WORK_IDS = st.sampled_from(["w1", "w2", "w3"])
OWNERS = st.sampled_from([NO_OWNER, Owner("n1", 1), Owner("n2", 2)])


def _some(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, max_size=2).map(tuple)


class StoreMachine(RuleBasedStateMachine):
    """Rules that run the same operation on both stores."""

    open_store: ClassVar[Opener]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.reference: Store = MemoryStore()
        self.store: Store = self._run(self._opened())
        self.bursts = count(1)

    async def _opened(self) -> Store:
        return await type(self).open_store()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self._run(self.store.close())
        self.loop.close()

    def same(self, call: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
        """Query both stores; the answers must be equal. Returns the answer."""
        expected, found = self._run(call(self.reference)), self._run(call(self.store))
        assert found == expected
        return expected

    def _version(self, tenant: str, name: str) -> int:
        key = InstanceKey(tenant, name)
        return self._run(self.reference.versions_of([key])).get(key, 0)

    @rule(
        tenant=TENANTS, name=NAMES, skew=st.sampled_from([0, 0, 0, 0, -1, 1]), status=STATUSES, taken=_some(GUARDS),
        released=_some(GUARDS), events=_some(EVENTS), seq=SMALL, burned=st.booleans(), works=_some(WORK_IDS),
        consumed=_some(WORK_IDS), execution=SMALL, owner=OWNERS,
        effects=st.sampled_from(["", "add", "consume", "drop", "cancel"]),
        parent=st.none() | NAMES, recorded=st.none() | NAMES,
    )  # fmt: skip
    def commit(
        self, tenant: str, name: str, skew: int, status: str, taken: tuple[Guard, ...], released: tuple[Guard, ...],
        events: tuple[str, ...], seq: int, burned: bool, works: tuple[str, ...], consumed: tuple[str, ...],
        execution: int, owner: Owner, effects: str, parent: str | None, recorded: str | None,
    ) -> None:  # fmt: skip
        number = next(self.bursts)
        version = max(1, self._version(tenant, name) + 1 + skew)
        finished = later(number) if status in {"finished", "faulted"} else None
        row = instance(
            name, version, tenant=tenant, status=status, finished=finished, burst_id=f"b{number}", updated=later(number),
            definition_id=f"d-{name}", name=name.upper(),
        )  # fmt: skip
        marks = self._run(self.reference.bookmarks_of(tenant, name))
        self._commit_both(
            commit_of(
                row,
                guards_taken=taken,
                guards_released=tuple(guard.ref for guard in released),
                bookmarks_burned=tuple(mark.ref for mark in marks[:1]) if burned else (),
                bookmarks_added=tuple(
                    bookmark(tenant, name, seq, event, correlation=seq - 1, created=later(-number)) for event in events
                ),
                work_added=tuple(work(tenant, id=work_id, instance_id=name) for work_id in works),
                work_consumed=consumed,
                effects_added=(effect(tenant, name, execution, owner=owner),) if effects == "add" else (),
                effects_consumed=(EffectRef(execution, 1, owner),) if effects == "consume" else (),
                effects_dropped=(execution,) if effects == "drop" else (),
                effects_canceled=(execution,) if effects == "cancel" else (),
                incidents_added=(incident(tenant, name, id=f"in{number}", occurred=later(number)),),
                values_added=(value(tenant, name, f"v{seq}"),) if burned else (),
                outbox_added=(message(tenant, id=f"m{number}", created=later(number), instance_id=name),),
                records=() if recorded is None else (_record(tenant, recorded, number, instance_id=name),),
            )
        )

    def _commit_both(self, commit: Commit) -> None:
        def shown(outcome: CommitOutcome) -> object:
            return "failed" if isinstance(outcome, Failed) else outcome

        async def outcomes(store: Store) -> list[object]:
            return [shown(outcome) for outcome in await store.commit([commit])]

        self.same(outcomes)

    @rule(tenant=TENANTS, work_id=WORK_IDS, due=st.sampled_from([None, later(5), FAR_OFF]), priority=st.integers(0, 2))
    def enqueue(self, tenant: str, work_id: str, due: Any, priority: int) -> None:
        row = work(tenant, id=work_id, due=due, priority=priority)
        self.same(lambda store: _list(store.enqueue([row, row])))

    @rule(limit=st.integers(1, 4))
    def claim(self, limit: int) -> None:
        async def claimed(store: Store) -> list[Any]:
            async with store.claim(["default"], limit) as claim:
                return list(claim.rows)

        rows = self.same(claimed)
        self.same(lambda store: store.defer(rows[:1], FAR_OFF))
        self.same(lambda store: _moved(store, rows))  # the first row has changed

    @rule(tenant=TENANTS, event=EVENTS, addressee=st.none() | NAMES, number=SMALL, correlation=st.integers(0, 2))
    def send(self, tenant: str, event: str, addressee: str | None, number: int, correlation: int) -> None:
        row = stimulus(
            tenant, event, id=f"s{number}", instance_id=addressee, correlation=correlation, arrived=later(number),
            address=number % 3,
        )  # fmt: skip
        self.same(lambda store: _list(store.put_inbox([row])))
        self.same(lambda store: _list(store.stranded_inbox(100)))
        self.same(lambda store: _list(store.has_mail([(tenant, address) for address in range(3)])))

    @rule(tenant=TENANTS, name=NAMES, execution=SMALL, old=OWNERS, new=OWNERS, attempt=st.integers(1, 2))
    def move_effect(self, tenant: str, name: str, execution: int, old: Owner, new: Owner, attempt: int) -> None:
        before, after = EffectRef(execution, attempt, old), EffectRef(execution, attempt + 1, new)
        self.same(lambda store: store.move_effect(tenant, name, before, after))
        self.same(lambda store: _list(store.effects_owned(new)))

    @rule(tenant=TENANTS, name=NAMES, version=SMALL, number=SMALL)
    def put_record(self, tenant: str, name: str, version: int, number: int) -> None:
        self.same(lambda store: store.put_record(_record(tenant, name, number, version=version)))

    @rule(tenant=TENANTS, name=NAMES)
    def delete_record(self, tenant: str, name: str) -> None:
        self.same(lambda store: store.delete_record(tenant, "task", name))

    @rule(tenant=TENANTS, name=NAMES)
    def delete(self, tenant: str, name: str) -> None:
        async def deleted(store: Store) -> object:
            try:
                return await store.delete_instances(tenant, [name])
            except DeletionRefused:
                return "refused"

        self.same(deleted)
        rule = RetentionRule(finished_before=FAR_OFF, statuses=("finished", "faulted"))
        self.same(lambda store: _list(store.find_expired(tenant, rule, 10)))

    @rule(tenant=TENANTS, name=NAMES)
    def export_and_import(self, tenant: str, name: str) -> None:
        """The exports must be equal, and an import must be refused by both or by none."""

        async def moved(store: Store) -> object:
            export = await store.export_instance(tenant, name)
            if export is None:
                return None
            plain = replace(export, guards=tuple(replace(row, released=None) for row in export.guards))
            try:
                await store.import_instance(plain)
            except AlreadyStored:
                return plain
            return "imported"

        self.same(moved)

    @rule(
        tenant=TENANTS, sort=st.sampled_from(list(InstanceSort)), descending=st.booleans(), limit=SMALL,
        filter=st.builds(
            InstanceFilter, statuses=_some(STATUSES), names=_some(NAMES.map(str.upper)),
            search=st.sampled_from(["", "A", "d-"]), has_incidents=st.none() | st.booleans(),
        ),
    )  # fmt: skip
    def search(self, tenant: str, sort: InstanceSort, descending: bool, limit: int, filter: InstanceFilter) -> None:
        async def pages(store: Store) -> list[Any]:
            found: list[Any] = []
            cursor: str | None = None
            for _ in range(5):
                query = InstanceQuery(
                    tenant=tenant, filter=filter, sort=sort, descending=descending, limit=limit, cursor=cursor
                )
                page = await store.search(query)
                found += page.items
                cursor = page.cursor
                if cursor is None:
                    break
            return found

        self.same(pages)
        self.same(lambda store: store.count(tenant, filter))

    @invariant()
    def both_hold_the_same(self) -> None:
        for tenant in ("", "acme"):
            self.same(partial(_stats, tenant))
            self.same(partial(_records, tenant))
            for name in "abc":
                self.same(partial(_instance, InstanceKey(tenant, name)))
        queries = [
            BookmarkQuery(tenant=tenant, key=wake_key(event), correlation=correlation, limit=9, oldest=oldest)
            for tenant in ("", "acme")
            for event in ("Paid", "Shipped")
            for correlation in (0, 1)
            for oldest in (True, False)
        ]
        self.same(lambda store: _found(store, queries))


async def _moved(store: Store, rows: Sequence[WorkRow]) -> list[WorkRow | None]:
    return [await store.move_work(row, attempts=row.attempts + 1, due=row.due) for row in rows]


async def _list(rows: Awaitable[Any]) -> list[Any]:
    return list(await rows)


async def _found(store: Store, queries: list[BookmarkQuery]) -> list[list[BookmarkRow]]:
    return [list(rows) for rows in (await store.find_bookmarks(queries)).bookmarks]


async def _stats(tenant: str, store: Store) -> StoreStats:
    return await store.stats(tenant)


async def _records(tenant: str, store: Store) -> list[RecordRow]:
    return list(await store.list_records(RecordQuery(tenant=tenant, kind="task")))


def _record(tenant: str, name: str, number: int, **given: Any) -> RecordRow:
    return record(tenant, name, created=later(number % 2), updated=later(number), owner=f"o{number % 2}", **given)


async def _instance(key: InstanceKey, store: Store) -> list[Any]:
    marks = list(await store.bookmarks_of(*key))
    return [
        (await store.load([key])).instances,
        marks,
        list(await store.read_journal(*key)),
        list(await store.effects_of(*key)),
        await store.load_values(*key, ["v1", "v2", "v3"]),
        list(await store.list_incidents(key.tenant, instance_id=key.id)),
        [list(mail.rows) for mail in await store.find_mail([key], 100)],
    ]


def compare(open_store: Opener, *, examples: int = 25, steps: int = 30) -> None:
    """Run random histories on stores opened by `open_store`, each on an empty database, next to the memory store."""

    class Machine(StoreMachine):
        pass

    Machine.open_store = staticmethod(open_store)
    run_state_machine_as_test(Machine, settings=settings(max_examples=examples, stateful_step_count=steps))
