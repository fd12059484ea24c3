"""Live instance: the in-memory state that a burst reads and changes.

It holds plain data plus the clock and the plan, which are injected. A segment mutates it; `snapshot` converts it to
JSON and back between any two segments. Frequent operations are methods here; rare ones have their own modules
(`faults`, `cancellation`, `settle`, `snapshot`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, cast
from weakref import proxy

from msgspec import Struct, field

from holdfast.execution.activation import COMPLETED, Activation
from holdfast.execution.branches.sleeping_branches import SleepingBranches
from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.cancellation import cancel_kids, forget_bookmarks, forget_interrupted
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.journal import COMPLETED as ENDED, STARTED, RawEntry, masked
from holdfast.execution.plan import Node, Outcome, Plan
from holdfast.execution.record import EffectRequest, Interrupted, NewBookmark
from holdfast.model.alterations import AlterationPlan
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind, Incident, JournalEvent, Status, moment
from holdfast.model.replies import HttpReply
from holdfast.model.scope import Scope, Shape
from holdfast.ports import Services

PENDING = Status.PENDING
EFFECT_RECORDED = JournalEvent.EFFECT_RECORDED.value
SUSPENDED = JournalEvent.SUSPENDED.value
_TIMEOUT = BookmarkKind.TIMEOUT


_NONE: Mapping[str, Any] = MappingProxyType({})
_NOT_INTERRUPTED: Mapping[int, tuple[Interrupted, ...]] = MappingProxyType({})


class LiveInstance(Struct, eq=False, weakref=True):
    """A struct, because C code fills its many fields fast: most instances live for one burst only.

    A start fills the fields by position, from `plan` to `sequence`. Rarely used collections are replaced, never changed
    in place, so that all instances can share one empty default. This halves the cost of creating and freeing an
    instance.
    """

    plan: Plan
    id: str
    now: Callable[[], int]
    services: Services
    # Fields from here to `outcome` are stored unchanged, in the order of `State`.
    status: Status = PENDING
    created: int = 0
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    """Principal that started the instance."""
    trace: str | None = None
    """Trace context of the start request."""
    flowchart_mode: str = "counter"
    trigger: str | None = None
    """Id of the trigger that started the instance. Its flowchart begins there."""
    trigger_open: bool = False
    """The trigger has not run yet. Its first execution takes the stimulus; later executions wait."""
    sequence: int = 0
    """Number of activity executions so far; the source of execution ids."""
    waited_at: int = 0
    """Value of `sequence` at the last wait, for detecting runaway loops."""
    bookmark_count: int = 0
    journal_base: int = 0
    """Number of journal entries in earlier commits."""
    commits: int = 0
    fault_pending: bool = False
    stopping: str | None = None
    """Cause of the cancellation in progress."""
    outcome: Outcome = None
    home: str | None = None
    """Queue of the start, if it named one. Timers and effects of the instance use it too; None is the default queue."""
    properties: Mapping[str, Any] = _NONE
    """Properties set by the starter and by activities."""
    trigger_payload: Any = None
    defers_steps: bool = False
    """A runtime runs the instance, not a runner. It can delay a step by itself, so its back-off needs no bookmark."""
    queue: deque[tuple[Node, Activation, Scope]] = field(default_factory=deque)
    journal: list[RawEntry] = []
    bookmarks: dict[str, Bookmark] = {}
    waiters: dict[int, Activation] = {}
    """Activations with a bookmark or an open effect, by execution id."""
    effects: dict[int, EffectRequest] = {}
    new_effects: list[EffectRequest] = []
    """Effects recorded in this segment; they start after its commit."""
    canceled_effects: dict[int, EffectRequest] = {}
    """Effects canceled in this segment, by execution id. The rows of those in `ending` stay until they have ended."""
    child_starts: tuple[ChildStart, ...] = ()
    orphans: list[str] = []
    """Child instances without a waiting parent; this segment's commit cancels them."""
    published: list[dict[str, Any]] = []
    lines: list[str] = []
    """Lines written in this segment; printed after its commit."""
    http_requests: frozenset[str] = frozenset()
    """Ids of the HTTP requests of this burst. Their callers read `replies` after the commit."""
    replies: Mapping[str, HttpReply] = _NONE
    """Replies of this burst, by request id; sent after the commit (rule M13)."""
    submitted_plans: tuple[AlterationPlan, ...] = ()
    """Alteration plans that this burst's commit begins."""
    incidents: list[Incident] = []
    results: dict[str, dict[str, Any]] = {}
    spare_outputs: Mapping[str, Any] = _NONE
    compensations: tuple[Compensation, ...] = ()
    interrupted: Mapping[int, tuple[Interrupted, ...]] = _NOT_INTERRUPTED
    """Effects without a result when their scope failed, by the execution id of that scope."""
    moved_to: str | None = None
    """Content hash that this burst has migrated the instance to."""
    leftovers: tuple[Activation, ...] = ()
    """Completed activities whose queued children still run. Activations of those children end with the segment."""
    error: BaseException | None = None
    """Exception of the last incident, for callers in this process; not part of the state."""
    retrying: Activation | None = None
    transient: dict[str, Any] | None = None
    """Transient properties: they end with the commit and are not part of the state."""
    commit_wanted: bool = False
    """A commit strategy requests a commit before the next activity."""
    committed_entries: int = 0
    """Number of entries of `journal` that are committed; a durable burst starts with an empty journal."""
    ending: dict[int, EffectRequest] = {}
    """Canceled effects that have not ended, by execution id. Finalizers wait for them (rule M1)."""
    finishing: Activation | None = None
    """The unfinished Compensable to which a late result is being applied; not part of the state."""
    heap: HeapBook | None = None
    """Large lists and dicts among the variables of functions, and what this burst can have changed in them."""
    asleep: SleepingBranches | None = None
    """Branches of wide containers that this burst has not used yet."""
    root: Activation = cast("Activation", None)
    cleanup: Activation = cast("Activation", None)

    def copy_from(self, other: LiveInstance) -> LiveInstance:
        """Copy all fields from another instance into this one, so that holders of this object see them."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(other, name))
        return self

    def __del__(self) -> None:
        """Break reference cycles between activations.

        Left to the garbage collector, activations of thousands of bursts would stay allocated, and new bursts would use
        memory outside the CPU cache. This cost a quarter of the time to read a state.
        """
        root, cleanup = self.root, self.cleanup
        if self.asleep is not None:
            self.asleep.close()
        if root is not None and not root.kids and not self.leftovers and (cleanup is None or not cleanup.kids):
            return  # Fast path: most ended instances have no activations left.
        everyone = [root, cleanup, *self.leftovers]
        for item in everyone:  # grows while it is iterated
            if item is not None and item.kids:
                everyone += awake(item.kids).values()
                item.kids = None

    # -- facts for expressions -----------------------------------------------------------------------------------------

    def open_scope(self, shape: Shape) -> Scope:
        """Open an outermost scope.

        It refers to the instance weakly, so freeing an instance needs no garbage collection.
        """
        return shape.open(proxy(self))

    @property
    def definition_id(self) -> str:
        return self.plan.definition.id

    @property
    def definition_version(self) -> int:
        return self.plan.definition.version

    @property
    def definition_version_id(self) -> str:
        return str(self.plan.definition.metadata.get("version_id") or f"{self.definition_id}:{self.definition_version}")

    @property
    def last_result(self) -> Any:
        return self.results.get("", {}).get("result")

    def output_of(self, activity: str, output: str | None) -> Any:
        node = self.plan.node(activity)
        if node is None:
            raise LookupError(f"Activity '{activity}' not found.")
        found = self.results.get(node.key, {})
        if output is None:
            return found.get("result", next(iter(found.values()), None))
        wanted = output.replace("_", "").lower()
        return next((value for name, value in found.items() if name.replace("_", "").lower() == wanted), None)

    # -- hot path ------------------------------------------------------------------------------------------------------

    def activate(self, node: Node, owner: Activation, outer: Scope, scope: Scope | None = None) -> Activation:
        """Create the activation of an activity that outlives its execution."""
        n = self.sequence = self.sequence + 1
        activation = self.adopt(Activation(n, node, owner, outer, outer if scope is None else scope))
        if self.retrying is not None and self.retrying.node is node:
            activation.attempt = self.retrying.attempt
            if self.interrupted:
                self.interrupted = {
                    activation.id if at == self.retrying.id else at: kept for at, kept in self.interrupted.items()
                }
            self.retrying = None
        if node.timeout is not None:
            self.arm_timeout(activation, node.timeout)
        # The start time equals the end of the previous activity: reuse it, because reading the clock costs time.
        journal = self.journal
        journal.append((STARTED, node.index, n, journal[-1][3] if journal else self.now(), None))
        return activation

    def adopt(self, activation: Activation) -> Activation:
        """Add the activation to its owner's kids."""
        owner = activation.owner
        assert owner is not None
        if owner.kids is None:
            owner.kids = {activation.id: activation}
        else:
            owner.kids[activation.id] = activation
        return activation

    def complete(self, activation: Activation, outcome: Outcome = None) -> None:
        """Complete the activity: end its remaining children, then run the owner's continuation."""
        if activation.status:
            return
        activation.status = COMPLETED
        if self.interrupted:
            forget_interrupted(self, activation)
        if activation.kids:
            cancel_kids(self, activation)
        if self.waiters and self.waiters.pop(activation.id, None) is not None:
            forget_bookmarks(self, activation)
        owner, node, n = activation.owner, activation.node, activation.id
        if owner is not None and owner.kids:
            owner.kids.pop(n, None)
        # Completes together with its last child or its resumption: reuse that time.
        journal = self.journal
        journal.append((ENDED, node.index, n, journal[-1][3] if journal else self.now(), outcome))
        node.done(self, owner, activation.outer, outcome)  # type: ignore[arg-type]  # only the root has no owner, and its continuation ignores it

    def takes_trigger(self, node: Node) -> bool:
        """Whether this is the execution that consumes the trigger's stimulus."""
        if self.trigger_open and node.definition.id == self.trigger:
            self.trigger_open = False
            return True
        return False

    # -- bookmarks -----------------------------------------------------------------------------------------------------

    def bookmark(
        self, activation: Activation, request: NewBookmark, kind: BookmarkKind = BookmarkKind.ACTIVITY
    ) -> Bookmark:
        """Add a bookmark at which the activation waits."""
        self.bookmark_count += 1
        key = f"b{self.bookmark_count}"
        if activation.bookmarks is None:
            activation.bookmarks = [key]
        else:
            activation.bookmarks.append(key)
        name, payload = request.name or activation.node.definition.type, request.payload
        bookmark = self.bookmarks[key] = Bookmark(
            key,
            name,
            activation.node.key,
            activation.id,
            kind,
            payload,
            stimulus_hash(name, payload, activation.id) if request.local else stimulus_hash(name, payload),
            request.due,
            request.auto_burn,
            request.auto_complete,
            request.callback,
            request.metadata,
        )
        self.waiters[activation.id] = activation
        if kind is not _TIMEOUT:
            self.waited_at = self.sequence
            self.note(SUSPENDED, activation, {"bookmark": key, "name": name})
        return bookmark

    def arm_timeout(self, activation: Activation, limit: timedelta) -> None:
        due = self.moment() + limit
        self.bookmark(activation, NewBookmark(name="timeout", payload=str(limit), due=due), _TIMEOUT)

    # -- effects -------------------------------------------------------------------------------------------------------

    def record_effect(
        self,
        activation: Activation,
        inputs: dict[str, Any],
        *,
        method: str = "execute",
        argument: Any = None,
        delay: timedelta | None = None,
        held: bool = False,
    ) -> None:
        """Add the effect to this segment's commit. It starts after the commit, never before."""
        node, n, attempt = activation.node, activation.id, activation.attempt
        request = self.effects[n] = EffectRequest(n, node.key, attempt, inputs, method, argument, delay, held)
        self.waiters[n] = activation
        self.new_effects.append(request)
        self.waited_at = self.sequence
        self.note(EFFECT_RECORDED, activation, {"attempt": attempt, "inputs": masked(node, inputs)})

    def publish(self, activation: Activation, event: dict[str, Any]) -> None:
        """Publish an event with this segment's commit."""
        self.published.append({**event, "execution_id": activation.id})
        self.note(JournalEvent.PUBLISHED, activation, {"name": event["name"]})

    def transient_properties(self) -> dict[str, Any]:
        if self.transient is None:
            self.transient = {}
        return self.transient

    # -- helpers -------------------------------------------------------------------------------------------------------

    def moment(self) -> datetime:
        return moment(self.now())

    def note(self, event: str, activation: Activation | None, data: Any = None) -> None:
        if activation is None:
            self.journal.append((event, -1, 0, self.now(), data))
        else:
            self.journal.append((event, activation.node.index, activation.id, self.now(), data))

    def activation(self, execution_id: int) -> Activation | None:
        """The live activation of an execution, or None."""
        for start in (self.root, self.cleanup):
            if start.id == execution_id:
                return start
            for found in start.descendants():
                if found.id == execution_id:
                    return found
        return None

    def keep_result(self, node: Node, output: str, value: Any) -> None:
        """Store an activity's output for expressions that read it."""
        self.results.setdefault(node.key, {})[output] = value
        self.results[""] = {"result": value}


class ChildStart:
    """Start of a child instance; a row of this instance's commit."""

    __slots__ = ("correlation_id", "detached", "execution_id", "input", "instance_id", "reference", "wait")

    def __init__(
        self,
        execution_id: int,
        reference: str,
        input: dict[str, Any],
        *,
        wait: bool,
        correlation_id: str | None,
        instance_id: str,
        detached: bool = False,
    ) -> None:
        self.detached = detached
        """The child does not report its end to this instance."""
        self.execution_id = execution_id
        self.reference = reference
        self.input = input
        self.wait = wait
        self.correlation_id = correlation_id
        self.instance_id = instance_id


class Compensation:
    """Registered compensation: the node that undoes the work, and its scope."""

    __slots__ = ("execution_id", "name", "node", "scope")

    def __init__(self, execution_id: int, name: str, node: Node, scope: Scope) -> None:
        self.execution_id = execution_id
        self.name = name
        self.node = node
        self.scope = scope
