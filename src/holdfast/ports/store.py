"""The port of persistence: what a database must do to keep workflows, in small protocols that `Store` puts together.

Adapters are split the same way, one file per protocol: a store is one of the classes that grow out of hand. Rules that
are quoted as H… or M… stand in the kernel's documentation; `holdfast.testing.store_contract` asks for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct

from holdfast.model.cluster import NodeRow, NodeState, Registration
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.guard import GuardRef, GuardRow
from holdfast.model.listing import InstanceFilter, InstancePage, InstanceQuery
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.stored import (
    BookmarkQuery,
    BookmarkRow,
    IncidentRow,
    InstanceKey,
    InstanceRow,
    JournalSegment,
)
from holdfast.model.upkeep import InstanceExport, MigrationReport, RetentionRule, StoreStats
from holdfast.model.work import (
    DeadLetterRow,
    EffectRef,
    EffectRow,
    InboxRow,
    OutboxRow,
    Owner,
    ScheduleRow,
    WorkRow,
)
from holdfast.ports.definition_store import DefinitionStore


class TransientErrors(Protocol):
    """Which errors pass by themselves: deadlock, serialisation failure, lost connection, failover.

    Each store brings one for its driver; users add theirs. Whatever is transient is tried again, by the store around
    its own calls and by activities that retry without saying on what.
    """

    def is_transient(self, error: BaseException) -> bool: ...


class Codec(Protocol):
    """How payloads rest in a database: compressed, encrypted. Bound to every payload column of every table.

    `decode(encode(data, where), where) == data` for all data, also when `encode` was called by an older process with
    another key or threshold: what is needed to read stands in the bytes. `where` names column and tenant; bytes that
    were moved to another place must not decode if they are encrypted. Raises `UndecodablePayload`.
    """

    def encode(self, data: bytes, where: str) -> bytes: ...
    def decode(self, data: bytes, where: str) -> bytes: ...


class CommitStore(Protocol):
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        """Write the batch in one transaction; one outcome per commit, in order. Durable when it returns.

        - Per commit all guards hold or nothing is written; losers are returned with the reason, the rest commits.
          Commits of a batch see each other in order: the second to take a key or consume a row loses. Rows that one
          of them adds are not there yet for the others.
        - An instance twice in a batch: `BatchRefused`, nothing written.
        - A commit that the database refuses whatever the others do is found by bisection and fails alone.
        - A commit whose burst id is stored for its version was sent before: `Committed`, nothing written again. So an
          unknown outcome (connection lost) is resolved by sending again; the adapter does so, also when another burst
          has committed in between. A commit without an instance is then `Lost` by its consumed rows.
        - Locks in the order instances by id, guards by name, consumed rows.
        """


class Loaded(Struct, frozen=True, kw_only=True):
    epoch: int
    instances: Mapping[InstanceKey, InstanceRow]
    """Those that exist."""


class Matches(Struct, frozen=True, kw_only=True):
    epoch: int
    bookmarks: Sequence[Sequence[BookmarkRow]]
    """Per query, in its order."""


class ReadStore(Protocol):
    """Reads by key. Each sees what was committed before it was called: by this process always."""

    async def load(self, keys: Sequence[InstanceKey]) -> Loaded: ...

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery]) -> Matches:
        """Bookmarks by key. Fast with a million bookmarks of one key and different correlations."""

    async def bookmarks_of(self, tenant: str, instance_id: str) -> Sequence[BookmarkRow]:
        """In order of `seq`."""

    async def read_journal(
        self, tenant: str, instance_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[JournalSegment]:
        """Segments of versions above `after`, in order; those that hold entries."""

    async def load_values(self, tenant: str, instance_id: str, refs: Sequence[str]) -> Mapping[str, bytes]: ...

    async def versions_of(self, keys: Sequence[InstanceKey]) -> Mapping[InstanceKey, int]:
        """For those who follow instances: cheap, without states."""

    async def find_guard(self, tenant: str, ref: GuardRef) -> GuardRow | None:
        """Who holds a key or slot. `released` is set once its instance was deleted."""

    async def list_incidents(
        self, tenant: str, *, instance_id: str | None = None, only_open: bool = True, limit: int = 100
    ) -> Sequence[IncidentRow]:
        """Latest first."""


class Claim(Protocol):
    """Work rows in hand, for as long as the block lasts. Commit what they gave rise to through the claim; what was not
    consumed when the block ends is free again. Nothing is awaited inside but the store: no user code."""

    @property
    def rows(self) -> Sequence[WorkRow]: ...
    @property
    def epoch(self) -> int: ...
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]: ...


class WorkStore(Protocol):
    """Queue, timers, retries, steps: one table. Cluster-wide; each row names its tenant."""

    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        """Durable when it returns. False for a row whose (tenant, id) is there already: it is left as it is."""

    def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AbstractAsyncContextManager[Claim]:
        """Due rows of these queues that nobody else has in hand: by priority and rank, and timers by due time, by the
        store's clock. Rows whose `content` is in `lacking` are left to others, those (tenant, id) in `without` are
        not given, and not locked where the database can: the asker is at them. Two claims of one process never hold
        the same row; of two processes only where the database has no SKIP LOCKED, and then one of them loses when it
        commits."""

    async def move_work(self, row: WorkRow, *, attempts: int, due: datetime | None) -> WorkRow | None:
        """The row as it is from now on; None, and nothing is written, if its attempts or its moment are not those of `row`
        any more, or another process holds it in a claim, which is not waited for. So of those who count an attempt at it
        (H15), or put it off, one succeeds."""

    async def defer(self, rows: Sequence[WorkRow], due: datetime) -> None:
        """Put rows back for later; those that are gone stay gone, and those that another process holds in a claim stay due:
        nobody waits for a claim."""

    async def until_due(self, queues: Sequence[str]) -> timedelta | None:
        """How long until the next row of these queues is due, by the store's clock; less than nothing if it is already,
        None if there is none. Asked before every claim: it must cost next to nothing."""

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        """A number that is another one whenever anybody has committed something: returned at once if it is not `since`,
        else soon after it changed, at the latest after `timeout`. Only a hint: whoever waits looks for work anyway."""

    async def put_schedules(self, tenant: str, definition_id: str, rows: Sequence[ScheduleRow]) -> None:
        """These are the definition's schedules from now on. One that is there with the same payload keeps its due
        time, so that a re-index neither skips nor repeats a firing."""

    async def due_schedules(self, limit: int) -> Sequence[ScheduleRow]:
        """By due time, of all tenants. Firing is a guard of a commit, so two nodes may read the same."""

    async def list_schedules(self, tenant: str, definition_id: str | None = None) -> Sequence[ScheduleRow]: ...

    async def list_dead_letters(self, tenant: str, *, limit: int = 100, offset: int = 0) -> Sequence[DeadLetterRow]:
        """Latest first."""

    async def replay_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        """Back to work as they were, due at once, attempts at 0; how many."""

    async def delete_dead_letters(self, tenant: str, ids: Sequence[str]) -> int: ...


class EffectStore(Protocol):
    """Owners of effects. The row alone changes hands; the instance is not touched."""

    async def own_effect(self, tenant: str, instance_id: str, ref: EffectRef, owner: Owner) -> EffectRow | None:
        """Take an effect that is as `ref` says. The new row, or None if it is otherwise by now."""

    async def move_effect(self, tenant: str, instance_id: str, ref: EffectRef, new: EffectRef) -> EffectRow | None:
        """The same with another attempt: how the sweeper gives an effect away."""

    async def effects_of(self, tenant: str, instance_id: str) -> Sequence[EffectRow]: ...

    async def effects_owned(self, owner: Owner) -> Sequence[EffectRow]:
        """What a node still owns; read with each heartbeat, so that it learns what was taken from it."""

    async def lost_effects(self, tenant: str, limit: int, after: tuple[str, int] = ("", 0)) -> Sequence[EffectRow]:
        """Effects whose owner is not alive by the store's clock, in order of (instance, execution), beyond `after`."""

    async def waiting_effects(
        self, tenant: str, created_before: datetime, limit: int, after: tuple[str, int] = ("", 0)
    ) -> Sequence[EffectRow]:
        """Effects that nobody took, in the same order: the broker may have lost the ticket."""


class InboxStore(Protocol):
    """Stimuli that came before their bookmark. Write, commit, then look: the sender looks for a bookmark after
    `put_inbox`, a burst that parks looks with `find_inbox` after its commit; who consumes the row has it."""

    async def put_inbox(self, rows: Sequence[InboxRow]) -> Sequence[bool]:
        """Durable when it returns. False for a stimulus that is kept already."""

    async def find_inbox(self, bookmarks: Sequence[BookmarkRow]) -> Sequence[Sequence[InboxRow]]:
        """Per bookmark the rows that fit it and have not expired, oldest first."""

    async def inbox_of(self, tenant: str, instance_id: str) -> Sequence[InboxRow]:
        """What is addressed to this instance."""

    async def stranded_inbox(self, limit: int) -> Sequence[tuple[InboxRow, BookmarkRow]]:
        """Rows with a bookmark that they fit, of all tenants: their sender or parker died between commit and look."""

    async def expire_inbox(self, limit: int) -> Sequence[InboxRow]:
        """Delete and return what expired: to be counted and listed, not dead-lettered."""


class OutboxStore(Protocol):
    """Drained by deletion, never by a cursor: at least once, each row with a stable id."""

    async def take_outbox(self, limit: int, hold: timedelta) -> Sequence[OutboxRow]:
        """Rows that nobody has taken within their hold, oldest first; they are this relay's for `hold`, durably, and
        their `attempts` are counted."""

    async def delete_outbox(self, rows: Sequence[OutboxRow]) -> None:
        """Delivered."""

    async def return_outbox(self, rows: Sequence[OutboxRow], after: timedelta) -> None:
        """Not delivered; to be taken again after that time."""


class NodeStore(Protocol):
    """The registry of nodes. Alive is who has not left and whose heartbeat is younger than its time to live, by the
    store's clock."""

    async def now(self) -> datetime:
        """The clock by which rows are due and nodes are alive."""

    async def register_node(self, node_id: str, *, time_to_live: timedelta, details: bytes = b"") -> Registration:
        """A new life: a boot number that was never given before, a worker number that no live node has."""

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        """Renew. False if a later life of this node registered: this one must stop."""

    async def leave(self, owner: Owner) -> None:
        """Goodbye: not alive from now on."""

    async def list_nodes(self) -> Sequence[NodeRow]: ...

    async def forget_nodes(self, silent_since: datetime) -> int:
        """Delete the rows of nodes that are not alive, own no effect and were last heard of before."""


class SearchStore(Protocol):
    """Lists over the projection. Where it is written behind the commit, `position` makes a list wait for a write."""

    async def search(self, query: InstanceQuery) -> InstancePage:
        """Sorted as asked, ties by id in the same direction. Texts compare by code point, None as the empty text."""

    async def count(self, tenant: str, filter: InstanceFilter) -> int: ...

    async def count_by_status(self, tenant: str, filter: InstanceFilter) -> Mapping[str, int]: ...


class UpkeepStore(Protocol):
    """Retention, export and figures, each in small transactions."""

    async def find_expired(self, tenant: str, rule: RetentionRule, limit: int) -> Sequence[str]:
        """Ids of instances that the rule lets go, longest finished first; none with a live child or parent."""

    async def delete_instances(self, tenant: str, ids: Sequence[str]) -> int:
        """Remove these instances at rest from every table, all or none; keys stay, marked released. Raises
        `DeletionRefused` for one that lives or has a live child or parent; unknown ids count as none."""

    async def sweep_keys(self, keep: timedelta, limit: int) -> int:
        """Delete keys of instances that ended, or were deleted, more than `keep` ago."""

    async def delete_unused_content(self, limit: int) -> int:
        """Delete content that no version, no trigger, no instance and no work row refers to."""

    async def export_instance(self, tenant: str, instance_id: str) -> InstanceExport | None:
        """Everything of one instance, from one moment."""

    async def import_instance(self, export: InstanceExport) -> None:
        """Write what `export_instance` gave, also from another kind of store. `AlreadyStored` if the instance exists
        or another one holds a guard of it; keys that its deletion released are its own again. Its effects belong to
        nobody until a sweeper gives them away."""

    async def stats(self, tenant: str | None = None) -> StoreStats: ...

    async def live_contents(self) -> Mapping[tuple[str, str], int]:
        """(tenant, content) of instances that have not ended, with their number: what a node must be able to run."""

    async def find_stuck(self, limit: int) -> Sequence[InstanceKey]:
        """Live instances that nothing will ever wake (M11): no bookmark, work, effect or inbox row, no open incident.
        A slow scan, for `doctor`; there should be none."""


class RecordStore(Protocol):
    """Small documents beside instances, of one tenant each."""

    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = ()) -> bool:
        """Version 1 inserts, n writes only over n - 1. False, and nothing written, if somebody was faster. With `work`
        these rows are put on the work table too: both or neither."""

    async def get_record(self, tenant: str, kind: str, record_id: str) -> RecordRow | None: ...

    async def list_records(self, query: RecordQuery) -> Sequence[RecordRow]:
        """Latest first, then by id."""

    async def count_records(self, query: RecordQuery) -> int:
        """How many fit, whatever `limit` and `after` say."""

    async def delete_record(self, tenant: str, kind: str, record_id: str) -> bool: ...


class Store(
    DefinitionStore,
    CommitStore,
    ReadStore,
    WorkStore,
    EffectStore,
    InboxStore,
    OutboxStore,
    NodeStore,
    SearchStore,
    UpkeepStore,
    RecordStore,
    Protocol,
):
    """Where everything is kept. Run `holdfast.testing.store_contract` against yours.

    Every row has a tenant, and a call with a tenant sees and changes rows of that tenant only. Bytes are never looked
    into, ids never made up. Transient errors are tried again before `StoreUnavailable` is raised; but for commits, a
    call that was tried again may find what its first try wrote (`enqueue` then says False). A message of the database
    is never shown bare: a `StoreError` names the remedy, the cause is chained.
    """

    name: str
    """`memory`, `sqlite`, `postgresql`, `mysql` …"""
    transient: TransientErrors

    async def open(self, *, migrate: bool = True) -> None:
        """Connect and check the schema; with `migrate` bring it up to date under a lock, so that ten nodes may start
        together. Raises `StoreMisconfigured`, `StoreUnavailable` or `SchemaMismatch`. Twice does no harm.

        Where there is something to connect to, other calls before it and after `close` raise `StoreClosed`."""

    async def close(self) -> None:
        """End connections and threads; what was asked before is finished first. Twice does no harm; it may be opened again."""

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        """Apply what is pending, or with `check` only say what it is. Works on a store that is not open."""


StoreFactory = Callable[..., Store]
"""Makes a store of its address, not open yet. It is called with the address and, by name, with what the settings say: `codec` (a
`Codec` or None) and `retry` (a `RetryPolicy`). Who has no use for them takes `**options` all the same."""
