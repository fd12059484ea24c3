"""Events and tasks: waiting for what happens outside, and telling others."""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import kept
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.instance import Bookmark, JournalEvent
from holdfast.model.scope import Scope
from holdfast.model.values import check

COMPLETED = JournalEvent.COMPLETED


class Event(Activity, pure=True, trigger=True, category="Events", icon="radio"):
    """Waits for an event of that name, or starts the workflow when one arrives."""

    event_name: str
    result: Any = output()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        name_of, put = builder.input("event_name"), builder.output("result")

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            put(live, activation.outer, payload)
            live.complete(activation)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            name = name_of(scope)
            activation = live.activate(node, owner, scope)
            if live.takes_trigger(node):
                resume(live, activation, None, live.trigger_payload)  # type: ignore[arg-type]  # it started here: no bookmark
            else:
                live.bookmark(activation, NewBookmark(payload={"event_name": name}))

        return op


class PublishEvent(Activity, pure=True, category="Events", icon="megaphone"):
    """Publishes an event. It leaves with the commit: a segment that is run again publishes once."""

    event_name: str
    payload: Any = field(default=None, evaluated=False)
    correlation_id: str | None = None
    local: bool = False
    """Only this instance hears it."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        name_of, payload_of = builder.input("event_name"), builder.input("payload")
        correlation_of, local_of = builder.input("correlation_id"), builder.input("local", default=False)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            payload = payload_of(scope)
            check(payload, "payload")
            event = {
                "name": str(name_of(scope)),
                "payload": payload,
                "correlation_id": correlation_of(scope),
                "local": bool(local_of(scope)),
                "execution_id": n,
            }
            live.published.append(event)
            at = live.now()
            live.journal.append(
                (JournalEvent.PUBLISHED, index, n, at, {"name": event["name"], "payload": kept(payload)})
            )
            live.journal.append((COMPLETED, index, n, at, None))
            done(live, owner, scope, None)

        return op


class RunTask(Activity, pure=True, category="Events", icon="clipboard-check"):
    """Asks someone outside to do something, and waits until they report it done."""

    task_name: str
    payload: Any = field(default=None, evaluated=False)
    task_id: str = output()
    result: Any = output()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        name_of, payload_of = builder.input("task_name"), builder.input("payload")
        put_id, put = builder.output("task_id"), builder.output("result")

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            put(live, activation.outer, payload)
            live.complete(activation)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            name, payload = str(name_of(scope)), payload_of(scope)
            check(payload, "payload")
            activation = live.activate(node, owner, scope)
            task_id = f"{live.id}-{activation.id}"
            put_id(live, scope, task_id)
            request = NewBookmark(payload={"task_id": task_id}, metadata={"task_name": name, "payload": payload})
            live.bookmark(activation, request)

        return op


ACTIVITIES = (Event, PublishEvent, RunTask)
