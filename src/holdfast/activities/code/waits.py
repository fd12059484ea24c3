"""`sleep` and `wait_for`: bookmarks with a due time, and bookmarks for events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.activities.code.flow import block_of
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.errors import ActivityFault, PayloadRefused
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import forget_bookmarks
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import REJECTED, Op
from holdfast.execution.record import NewBookmark
from holdfast.model.instance import Bookmark
from holdfast.model.scope import Scope
from holdfast.model.types import shaped

TIMED_OUT = "timed_out"


class Sleep(Activity, pure=True, category="Code", icon="hourglass", browsable=False):
    """Waits for a duration, or until a moment. Completes at once if the moment has passed."""

    until: Any
    """Duration (timedelta) or moment (datetime with a time zone)."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, until_of = builder.node, builder.input("until")

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            due = moment_of(until_of(scope), live.moment())
            activation = live.activate(node, owner, scope)
            if due <= live.moment():
                live.complete(activation)
            else:
                live.bookmark(activation, NewBookmark(name="Delay", payload={"due": due}, due=due))

        return op


def moment_of(value: Any, now: datetime, caller: str = "sleep(…)") -> datetime:
    if isinstance(value, timedelta):
        return now + value
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return value.astimezone(UTC)
    remedy = f" Write timedelta(seconds={value!r})." if isinstance(value, int | float) else ""
    raise ActivityFault(f"{caller} takes a timedelta or an aware datetime, not {value!r}.{remedy}")


class WaitFor(Activity, pure=True, category="Code", icon="radio", browsable=False):
    """Waits for an event that is sent to this instance, to its correlation id, to a key, or to all instances."""

    event_name: str
    """Name of the event."""
    of: str | None = None
    """Public name of the event's class. The payload is converted to it."""
    key: Any = None
    """Key of the event; only events sent to this key are received."""
    broadcast: Any = False
    """Receive events that are sent to all instances."""
    timeout: Any = None
    """Duration or moment after which the wait ends."""
    default: Any = field(default=None, evaluated=False)
    """Value after the timeout. Without it, `TimeoutError` is raised."""
    where: Any = field(default=None, evaluated=False)
    """Predicate on the event. If it is false, the wait continues and other receivers get the event."""
    result: Any = output()
    """Payload of the event, or the default."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _WaitNode(builder).op


class _WaitNode:
    def __init__(self, builder: NodeBuilder) -> None:
        self.node = builder.node
        self.name, self.of = builder.input("event_name"), builder.literal("of")
        self.key, self.broadcast = builder.input("key"), builder.input("broadcast", default=False)
        self.timeout = builder.input("timeout")
        self.default = block_of(builder, "default") if builder.has_input("default") else None
        self.where = block_of(builder, "where") if builder.has_input("where") else None
        self.put = builder.output("result")
        self.node.hooks.resume = self.resume
        if self.where is not None or self.of is not None:
            self.node.hooks.receives = self.receives

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        name, key, timeout = self.name(scope), self.key(scope), self.timeout(scope)
        if isinstance(name, type):
            raise ActivityFault(
                f"wait_for(…) takes a class only by its name, but {name.__name__} came from a variable. Write "
                f"wait_for({name.__name__}), or give the event's name as text."
            )
        address: dict[str, Any] = {"event_name": str(name)}
        if key is not None:
            address["key"] = key
        elif not self.broadcast(scope):
            address["instance"] = live.id
        activation = live.activate(self.node, owner, scope)
        live.bookmark(activation, NewBookmark(name="Event", payload=address, auto_burn=False))
        if timeout is not None:
            due = moment_of(timeout, live.moment(), "wait_for(timeout=…)")
            live.bookmark(activation, NewBookmark(name=TIMED_OUT, payload={"due": due}, due=due))

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        scope, owner = activation.outer, activation.owner
        assert owner is not None
        if bookmark.name == TIMED_OUT:
            if self.default is None:
                raise TimeoutError(f"No {self.name(scope)} event arrived before the timeout.")
            value = self.default(live, owner, scope)
        else:
            value = payload
        forget_bookmarks(live, activation)
        self.put(live, scope, value)
        live.complete(activation)

    def receives(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> Any:
        if bookmark.name == TIMED_OUT:
            return payload
        event = payload if self.of is None else self._shaped(live, bookmark, payload)
        owner, where = activation.owner, self.where
        assert owner is not None
        return event if where is None or where(live, owner, activation.outer)(event) else REJECTED

    def _shaped(self, live: LiveInstance, bookmark: Bookmark, payload: Any) -> Any:
        event, problems = shaped(payload, str(self.of), live.plan.types)
        if problems:
            name = bookmark.payload["event_name"]
            raise PayloadRefused(name, problems, instance_id=live.id, bookmark_id=bookmark.id)
        return event
