"""Port of persistence: the obligations of a database adapter, in small protocols that `Store` combines.

Adapters are split the same way, one file per protocol, which keeps their classes small. Rules cited as H… or M… are
defined in the kernel's documentation; `holdfast.testing.store_contract` checks each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct

from holdfast.model.changes import Change
from holdfast.model.cluster import NodeRow, NodeState, Registration
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.guard import GuardRef, GuardRow
from holdfast.model.listing import HourCount, InstanceFilter, InstancePage, InstanceQuery
from holdfast.model.pulse import Pulse
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
    Owner,
    ScheduleRow,
    WorkRow,
)
from holdfast.ports.definition_store import DefinitionStore
from holdfast.ports.mail_store import InboxStore, OutboxStore


class TransientErrors(Protocol):
    """Classifies errors that a retry may resolve: deadlock, serialization failure, lost connection, failover.

    Each store has one for its driver; users can add more. The store retries its own calls on transient errors. Activities
    with a retry policy that names no errors retry on them too.
    """

    def is_transient(self, error: BaseException) -> bool: ...


class Codec(Protocol):
    """Encoding of payloads in the database: compression, encryption. Applied to every payload column of every table.

    `decode(encode(data, where), where) == data` for all data, also if an older process with another key or threshold called
    `encode`: the encoded bytes contain all information needed to decode them. `where` names column and tenant; encrypted
    bytes that were moved to another place must not decode. Raises `UndecodablePayload`.
    """

    def encode(self, data: bytes, where: str) -> bytes: ...
    def decode(self, data: bytes, where: str) -> bytes: ...


class CommitStore(Protocol):
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        """Write the batch in one transaction. Returns one outcome per commit, in order. Durable on return.

        - For each commit, either all guards hold or nothing is written. Losing commits are returned with the reason; the
          others are written. Commits of a batch see each other in order: the second to take a key or consume a row
          loses. Rows that a commit adds are not visible to the other commits of its batch.
        - An instance that occurs twice in a batch raises `BatchRefused`; nothing is written.
        - If the database rejects a commit for its own content, bisection isolates it, and only that commit fails.
        - A commit whose burst id is already stored for its version is a repetition: the outcome is `Committed`, and
          nothing is written again. The adapter resolves an unknown outcome (lost connection) by sending the commit
          again, also if another burst has committed in between. A repeated commit without an instance is a `Conflict`,
          because its consumed rows are gone.
        - Lock order: instances by id, guards by name, consumed rows.
        """


class Loaded(Struct, frozen=True, kw_only=True):
    epoch: int
    instances: Mapping[InstanceKey, InstanceRow]
    """The requested instances that exist."""
    mail: Sequence[bool] = ()
    """Whether mail of each requested address is stored, as `has_mail` says."""


class Matches(Struct, frozen=True, kw_only=True):
    epoch: int
    bookmarks: Sequence[Sequence[BookmarkRow]]
    """One sequence per query, in query order."""
    mail: Sequence[bool]
    """Whether mail of the address of each query is stored, as `has_mail` says; False for a query without an address."""


class ReadStore(Protocol):
    """Reads by key. A read sees every commit that this process completed before the call."""

    async def load(self, keys: Sequence[InstanceKey], addresses: Sequence[int] = ()) -> Loaded:
        """Instances by key. `addresses`, if given, has one address per key: an event for an instance needs both answers."""

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery]) -> Matches:
        """Bookmarks by key. Must be fast with a million bookmarks that share a key and differ in correlation."""

    async def bookmarks_of(self, tenant: str, instance_id: str) -> Sequence[BookmarkRow]:
        """Ordered by `seq`."""

    async def read_journal(
        self, tenant: str, instance_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[JournalSegment]:
        """Segments with entries whose version is above `after`, in order."""

    async def load_values(self, tenant: str, instance_id: str, refs: Sequence[str]) -> Mapping[str, bytes]: ...

    async def versions_of(self, keys: Sequence[InstanceKey]) -> Mapping[InstanceKey, int]:
        """Current versions without states; cheap enough for polling."""

    async def find_guard(self, tenant: str, ref: GuardRef) -> GuardRow | None:
        """The holder of a key or slot. `released` is set after its instance was deleted."""

    async def list_incidents(
        self, tenant: str, *, instance_id: str | None = None, only_open: bool = True, limit: int = 100
    ) -> Sequence[IncidentRow]:
        """Newest first."""


class Claim(Protocol):
    """Work rows that are claimed for the duration of the block. Commit their results through the claim. Rows that are not
    consumed when the block ends become claimable again. Await only store calls inside the block, never user code."""

    @property
    def rows(self) -> Sequence[WorkRow]: ...
    @property
    def epoch(self) -> int: ...
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]: ...


class WorkStore(Protocol):
    """The work table: queue, timers, retries and steps. It spans the cluster; each row names its tenant."""

    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        """Durable on return. False for a row whose (tenant, id) exists already; that row is not changed."""

    def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AbstractAsyncContextManager[Claim]:
        """Claim due rows of these queues that no other claim holds, by the store's clock: ordered by priority and rank,
        timers by due time.

        Rows whose `content` is in `lacking` are left to other nodes. Rows whose (tenant, id) is in `without` are skipped,
        and not locked if the database supports it: the caller is already processing them. Two claims of one process
        never hold the same row. Claims of two processes may, but only if the database has no SKIP LOCKED; one of them
        then loses at its commit."""

    async def move_work(
        self, row: WorkRow, *, attempts: int, due: datetime | None, content: str | None = None
    ) -> WorkRow | None:
        """Update attempts, due time and, if given, content, and return the new row. Returns None and writes nothing if the
        stored attempts or due time differ from `row`, or if another process holds the row in a claim; the call does not
        wait for that claim. Concurrent callers that count an attempt (H15) or defer the row therefore have one winner."""

    async def defer(self, rows: Sequence[WorkRow], due: datetime) -> None:
        """Make rows due later. Deleted rows stay deleted. Rows that another process holds in a claim stay due: the call
        never waits for a claim."""

    async def until_due(self, queues: Sequence[str], *, lacking: Collection[str] = ()) -> timedelta | None:
        """Time until the next row of these queues is due, by the store's clock. Negative if a row is overdue, None if there
        is no row. Rows whose `content` is in `lacking` do not count: a claim would leave them out. Called before every
        claim, so it must be very cheap."""

    async def work_of(self, tenant: str, instance_id: str) -> Sequence[WorkRow]:
        """The rows of one instance, due or not, in the order of their ids."""

    async def queues_with_work(self) -> Sequence[str]:
        """Names of the queues that have rows, due or not, in order. The cost depends on the number of queues, not of rows."""

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        """A number that changes with every commit of any process. Returns at once if it differs from `since`, otherwise
        soon after it changes, at the latest after `timeout`. It is a hint: callers also look from time to time."""

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        """Call `on_change` on this event loop after every write of this process, and soon after writes of others that have a
        topic (rule M9); with `anything` also soon after their writes without one. Writes may share a call, and a call may be
        lost. A store that cannot name the topics of others calls with `UNKNOWN`, also after it has reconnected. Returns the
        function that ends the subscription."""

    async def put_schedules(self, tenant: str, definition_id: str, rows: Sequence[ScheduleRow]) -> None:
        """Replace the schedules of the definition. A schedule that exists with the same payload keeps its due time, so a
        re-index neither skips nor repeats a firing."""

    async def due_schedules(self, limit: int) -> Sequence[ScheduleRow]:
        """Due schedules of all tenants, by due time. A firing is guarded by its commit, so two nodes may read the same rows."""

    async def list_schedules(self, tenant: str, definition_id: str | None = None) -> Sequence[ScheduleRow]: ...

    async def list_dead_letters(self, tenant: str, *, limit: int = 100, offset: int = 0) -> Sequence[DeadLetterRow]:
        """Newest first."""

    async def replay_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        """Put them back on the work table unchanged, due now, with attempts at 0. Returns how many."""

    async def delete_dead_letters(self, tenant: str, ids: Sequence[str]) -> int: ...


class EffectStore(Protocol):
    """Ownership of effects. Only the effect row changes its owner; the instance row is not touched."""

    async def own_effect(self, tenant: str, instance_id: str, ref: EffectRef, owner: Owner) -> EffectRow | None:
        """Take ownership of an effect that still matches `ref`. Returns the new row, or None if it no longer matches."""

    async def move_effect(self, tenant: str, instance_id: str, ref: EffectRef, new: EffectRef) -> EffectRow | None:
        """Like `own_effect`, with another attempt: the reaper hands an effect over with it."""

    async def effects_of(self, tenant: str, instance_id: str) -> Sequence[EffectRow]: ...

    async def effects_owned(self, owner: Owner) -> Sequence[EffectRow]:
        """Effects that the node owns. Read with each heartbeat, so that a node detects effects taken from it."""

    async def lost_effects(self, tenant: str, limit: int, after: tuple[str, int] = ("", 0)) -> Sequence[EffectRow]:
        """Effects whose owner is not alive by the store's clock, ordered by (instance, execution), after `after`."""

    async def waiting_effects(
        self, tenant: str, created_before: datetime, limit: int, after: tuple[str, int] = ("", 0)
    ) -> Sequence[EffectRow]:
        """Effects without an owner, in the same order: the broker may have lost their tickets."""


class NodeStore(Protocol):
    """The registry of nodes. A node is alive if it has not left and its heartbeat is younger than its time to live, by the
    store's clock."""

    async def now(self) -> datetime:
        """The store's clock, which decides when rows are due and nodes are alive."""

    async def register_node(self, node_id: str, *, time_to_live: timedelta, details: bytes = b"") -> Registration:
        """Register a process start. Returns a boot number that was never used and a worker number that no live node has."""

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        """Renew the lease. False if a later process of this node has registered: this process must stop."""

    async def leave(self, owner: Owner) -> None:
        """Sign off: the node is not alive from now on."""

    async def list_nodes(self) -> Sequence[NodeRow]: ...

    async def pulse(self, owner: Owner, queues: Sequence[str]) -> Pulse:
        """Answers to the periodic questions of a node, in one snapshot, if possible in one statement. Every node asks every few
        seconds for the life of its process: the cost must not depend on the number of rows."""

    async def forget_nodes(self, silent_since: datetime) -> int:
        """Delete the rows of dead nodes that own no effect and whose last heartbeat is before `silent_since`."""


class SearchStore(Protocol):
    """Queries over the projection. If a store updates it after the commit, `position` makes a query wait for that commit."""

    async def search(self, query: InstanceQuery) -> InstancePage:
        """Sorted as requested, ties by id in the same direction. Texts compare by code point, a missing name before all
        names. A page must not cost more when there are more instances: every sort needs an index, alone and with a filter by
        status or definition."""

    async def count(self, tenant: str, filter: InstanceFilter) -> int:
        """Exact, and therefore slow for some filters. Pages do not need it."""

    async def count_by_status(self, tenant: str, filter: InstanceFilter) -> Mapping[str, int]:
        """Exact. Cheap if the filter is empty or names only statuses, definitions, contents and `system`."""

    async def count_by_hour(self, tenant: str, since: datetime) -> Sequence[HourCount]:
        """Instances that started and ended since then, in order of hours, without system instances. The first hour is
        complete. A store may count instances that were deleted since, and may forget hours after `HOURS_KEPT`."""


class UpkeepStore(Protocol):
    """Retention, export and statistics, each in small transactions."""

    async def find_expired(self, tenant: str, rule: RetentionRule, limit: int) -> Sequence[str]:
        """Ids of instances that the rule allows to delete, longest finished first; none with a live child or parent."""

    async def delete_instances(self, tenant: str, ids: Sequence[str]) -> int:
        """Delete these ended instances from every table, all or none. Their idempotency keys stay, marked as released.
        Raises `DeletionRefused` if an instance, its child or its parent has not ended. Unknown ids are ignored."""

    async def sweep_keys(self, keep: timedelta, limit: int) -> int:
        """Delete keys whose instance ended, or was deleted, more than `keep` ago."""

    async def delete_unused_content(self, limit: int) -> int:
        """Delete content that no version, trigger, instance or work row refers to."""

    async def export_instance(self, tenant: str, instance_id: str) -> InstanceExport | None:
        """All data of one instance, read in one consistent snapshot."""

    async def import_instance(self, export: InstanceExport) -> None:
        """Write the result of `export_instance`, possibly of another kind of store. Raises `AlreadyStored` if the instance
        exists or another instance holds one of its guards. Keys that were released by its deletion belong to it again.
        Its effects have no owner until the reaper assigns them."""

    async def stats(self, tenant: str | None = None, *, at_most: int | None = None) -> StoreStats:
        """Number of rows per table. With `at_most`, a table is counted up to that number only, so the cost is bounded."""

    async def live_contents(self) -> Mapping[tuple[str, str], int]:
        """Number of live instances by (tenant, content): the contents that a node must be able to run."""

    async def find_stuck(self, limit: int) -> Sequence[InstanceKey]:
        """Live instances that nothing can wake (M11): no bookmark, work, effect or inbox row and no open incident. A slow
        scan for `doctor`; the expected result is empty."""


class RecordStore(Protocol):
    """Small documents beside instances. Each belongs to one tenant."""

    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        """Version 1 inserts; version n replaces version n - 1 only. Returns False and writes nothing after a concurrent
        write. `work` and `inbox` rows are added in the same transaction, unless they exist."""

    async def get_record(self, tenant: str, kind: str, record_id: str) -> RecordRow | None: ...

    async def list_records(self, query: RecordQuery) -> Sequence[RecordRow]:
        """Newest first, then by id."""

    async def count_records(self, query: RecordQuery) -> int:
        """Number of matches, regardless of `limit` and `after`."""

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
    """Persistence of the engine. Run `holdfast.testing.store_contract` against your implementation.

    Every row has a tenant. A call with a tenant reads and changes only rows of that tenant. A store neither interprets
    payload bytes nor generates ids. Transient errors are retried before `StoreUnavailable` is raised. Except for commits, a
    retried call may meet the writes of its first attempt (`enqueue` then returns False). A driver's error is never raised as
    it is: a `StoreError` names the remedy and chains the cause.
    """

    name: str
    """`memory`, `sqlite`, `postgresql`, `mysql` …"""
    transient: TransientErrors

    async def open(self, *, migrate: bool = True) -> None:
        """Connect and check the schema. With `migrate`, upgrade the schema under a lock, so that many nodes can start
        concurrently. Raises `StoreMisconfigured`, `StoreUnavailable` or `SchemaMismatch`. Idempotent.

        If the store needs a connection, other calls before `open` and after `close` raise `StoreClosed`."""

    async def close(self) -> None:
        """Finish the pending calls, then close connections and threads. Idempotent; the store may be opened again."""

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        """Apply pending migrations, or with `check` only report them. Works on a store that is not open."""


StoreFactory = Callable[..., Store]
"""Creates a store from its address without opening it. Called with the address and the keyword arguments `codec` (a `Codec`
or None) and `retry` (a `RetryPolicy`) from the settings, and `connections` (an int) if the setting `store_connections` is set.
Accept `**options` if your store uses none of them."""
