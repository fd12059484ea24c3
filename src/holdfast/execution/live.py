"""An instance while it is in memory: what a burst reads and changes.

It is all plain data and two things handed in from outside, the clock and the plan. A segment mutates it; `snapshot` turns it
into JSON and back between any two segments. The busy methods are here; what happens rarely has modules of its own
(`faults`, `cancellation`, `settling`, `snapshot`).
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
from holdfast.execution.cancellation import cancel_kids, forget_bookmarks
from holdfast.execution.journal import COMPLETED as ENDED, STARTED, RawEntry, masked
from holdfast.execution.plan import Node, Outcome, Plan
from holdfast.execution.record import EffectRequest, NewBookmark
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


class LiveInstance(Struct, eq=False, weakref=True):
    """A struct, since its many fields are then filled by C: most instances live for a burst only. A start fills them by
    position, from `plan` to `sequence`. What few instances have is replaced where it is added to, never changed in place:
    so all others share an empty one, and are made and let go in half the time."""

    plan: Plan
    id: str
    now: Callable[[], int]
    services: Services
    # From here to `outcome` what is written down as it is, in the order of `State`.
    status: Status = PENDING
    created: int = 0
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    """On whose behalf it was started."""
    trace: str | None = None
    """The trace context of who started it."""
    flowchart_mode: str = "counter"
    trigger: str | None = None
    """Id of the trigger that started the instance: its flowchart begins there."""
    trigger_open: bool = False
    """The trigger has not been executed yet: its first execution takes the stimulus, later ones wait."""
    sequence: int = 0
    """Counts executions of activities; their ids come from it."""
    waited_at: int = 0
    """`sequence` when something was last waited for: tells a runaway."""
    bookmark_count: int = 0
    journal_base: int = 0
    """Entries that left with earlier commits."""
    commits: int = 0
    fault_pending: bool = False
    stopping: str | None = None
    """The cause of a cancellation that is under way."""
    outcome: Outcome = None
    properties: Mapping[str, Any] = _NONE
    """What its starter wants to find again; the workflow does not see it."""
    trigger_payload: Any = None
    defers_steps: bool = False
    """Whoever runs this can hold a step back: its back-off needs no bookmark."""
    queue: deque[tuple[Node, Activation, Scope]] = field(default_factory=deque)
    journal: list[RawEntry] = []
    bookmarks: dict[str, Bookmark] = {}
    waiters: dict[int, Activation] = {}
    """Activations with a bookmark or an open effect, by execution id."""
    effects: dict[int, EffectRequest] = {}
    new_effects: list[EffectRequest] = []
    """Recorded in this segment: to be started after its commit."""
    canceled_effects: list[int] = []
    child_starts: tuple[ChildStart, ...] = ()
    orphans: list[str] = []
    """Instances that nobody waits for any more: to be canceled by this segment's commit."""
    published: list[dict[str, Any]] = []
    lines: list[str] = []
    """What WriteLine wrote in this segment: printed after its commit."""
    asked: frozenset[str] = frozenset()
    """Requests from outside that came with this burst: whoever brought one looks at `replies` after the commit."""
    replies: Mapping[str, HttpReply] = _NONE
    """Answers that this burst gave, by request: they leave after the commit (rule M13)."""
    incidents: list[Incident] = []
    results: dict[str, dict[str, Any]] = {}
    spare_outputs: Mapping[str, Any] = _NONE
    compensations: tuple[Compensation, ...] = ()
    moved_to: str | None = None
    """The content that this burst has migrated it to."""
    leftovers: tuple[Activation, ...] = ()
    """Completed activities whose queued children still run; what those leave behind ends with the segment."""
    error: BaseException | None = None
    """What the last incident was made of, for those in this process; no part of the state."""
    retrying: Activation | None = None
    commit_wanted: bool = False
    committed_for: tuple[Node, int] | None = None
    root: Activation = cast("Activation", None)
    cleanup: Activation = cast("Activation", None)

    def made_anew(self, other: LiveInstance) -> LiveInstance:
        """Everything as in another one; whoever holds this one sees it."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(other, name))
        return self

    def __del__(self) -> None:
        """Activations know each other both ways. Left to the collector they would lie about for thousands of bursts, and each
        of these would be made in memory that no cache holds: that cost a quarter of reading a state."""
        root, cleanup = self.root, self.cleanup
        if root is not None and not root.kids and not self.leftovers and (cleanup is None or not cleanup.kids):
            return  # As most that have ended.
        everyone = [root, cleanup, *self.leftovers]
        for item in everyone:  # It grows meanwhile.
            if item is not None and item.kids:
                everyone += item.kids.values()
                item.kids = None

    # -- the facts that expressions may ask for ------------------------------------------------------------------------

    def open_scope(self, shape: Shape) -> Scope:
        """An outermost scope. It knows the instance weakly: an instance that is let go is gone, with no cycle to collect."""
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

    # -- what a burst does all the time --------------------------------------------------------------------------------

    def activate(self, node: Node, owner: Activation, outer: Scope, scope: Scope | None = None) -> Activation:
        """The activity will live on: give it an execution id and a place among its owner's kids."""
        n = self.sequence = self.sequence + 1
        activation = self.adopt(Activation(n, node, owner, outer, outer if scope is None else scope))
        if self.retrying is not None and self.retrying.node is node:
            activation.attempt, self.retrying = self.retrying.attempt, None
        if node.timeout is not None:
            self.arm_timeout(activation, node.timeout)
        # It starts when what came before it ended: that moment is known already, and reading a clock costs.
        journal = self.journal
        journal.append((STARTED, node.index, n, journal[-1][3] if journal else self.now(), None))
        return activation

    def adopt(self, activation: Activation) -> Activation:
        """Give it its place among its owner's kids."""
        owner = activation.owner
        assert owner is not None
        if owner.kids is None:
            owner.kids = {activation.id: activation}
        else:
            owner.kids[activation.id] = activation
        return activation

    def complete(self, activation: Activation, outcome: Outcome = None) -> None:
        """The activity is done: end what it left behind, then go on where its owner says."""
        if activation.status:
            return
        activation.status = COMPLETED
        if activation.kids:
            cancel_kids(self, activation)
        if self.waiters and self.waiters.pop(activation.id, None) is not None:
            forget_bookmarks(self, activation)
        owner, node, n = activation.owner, activation.node, activation.id
        if owner is not None and owner.kids:
            owner.kids.pop(n, None)
        # Completed with its last child, or with what resumed it: the same moment again.
        journal = self.journal
        journal.append((ENDED, node.index, n, journal[-1][3] if journal else self.now(), outcome))
        node.done(self, owner, activation.outer, outcome)  # type: ignore[arg-type]  # only the root has no owner; its done ignores it

    def takes_trigger(self, node: Node) -> bool:
        """Whether this execution is the one that the instance was started for."""
        if self.trigger_open and node.definition.id == self.trigger:
            self.trigger_open = False
            return True
        return False

    # -- bookmarks -----------------------------------------------------------------------------------------------------

    def bookmark(
        self, activation: Activation, request: NewBookmark, kind: BookmarkKind = BookmarkKind.ACTIVITY
    ) -> Bookmark:
        """The activation waits for what the request describes."""
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
    ) -> None:
        """Put the effect's row into this segment's commit; it starts after that, never before."""
        node, n, attempt = activation.node, activation.id, activation.attempt
        request = self.effects[n] = EffectRequest(n, node.key, attempt, inputs, method, argument, delay)
        self.waiters[n] = activation
        self.new_effects.append(request)
        self.waited_at = self.sequence
        self.note(EFFECT_RECORDED, activation, {"attempt": attempt, "inputs": masked(node, inputs)})

    def publish(self, activation: Activation, event: dict[str, Any]) -> None:
        """An event that leaves with this segment's commit."""
        self.published.append({**event, "execution_id": activation.id})
        self.note(JournalEvent.PUBLISHED, activation, {"name": event["name"]})

    # -- small things --------------------------------------------------------------------------------------------------

    def moment(self) -> datetime:
        return moment(self.now())

    def note(self, event: str, activation: Activation | None, data: Any = None) -> None:
        if activation is None:
            self.journal.append((event, -1, 0, self.now(), data))
        else:
            self.journal.append((event, activation.node.index, activation.id, self.now(), data))

    def activation(self, execution_id: int) -> Activation | None:
        """The living activation of that execution, if there is one."""
        for start in (self.root, self.cleanup):
            if start.id == execution_id:
                return start
            for found in start.descendants():
                if found.id == execution_id:
                    return found
        return None

    def keep_result(self, node: Node, output: str, value: Any) -> None:
        """Remember an activity's output for expressions that ask for it."""
        self.results.setdefault(node.key, {})[output] = value
        self.results[""] = {"result": value}


class ChildStart:
    """An instance that this one starts: a row of its commit."""

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
        """Nobody here wants to hear of it."""
        self.execution_id = execution_id
        self.reference = reference
        self.input = input
        self.wait = wait
        self.correlation_id = correlation_id
        self.instance_id = instance_id


class Compensation:
    """Work that can be taken back: which node undoes it, in which scope."""

    __slots__ = ("execution_id", "name", "node", "scope")

    def __init__(self, execution_id: int, name: str, node: Node, scope: Scope) -> None:
        self.execution_id = execution_id
        self.name = name
        self.node = node
        self.scope = scope
