"""Events and external tasks: activities that wait for a stimulus, and activities that publish one."""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.instance import Bookmark, JournalEvent
from holdfast.model.scope import Scope
from holdfast.model.values import check

COMPLETED = JournalEvent.COMPLETED


class Event(Activity, pure=True, trigger=True, category="Events", icon="radio"):
    """Waits for an event with this name. As a trigger, starts the workflow when such an event arrives."""

    event_name: str
    """Name of the event."""
    result: Any = output()
    """Payload of the event."""

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
                resume(live, activation, None, live.trigger_payload)  # type: ignore[arg-type]  # started by this trigger: there is no bookmark
            else:
                live.bookmark(activation, NewBookmark(payload={"event_name": name}))

        return op


class PublishEvent(Activity, pure=True, category="Events", icon="megaphone"):
    """Publishes an event with the commit, so a segment that is retried publishes it only once."""

    event_name: str
    """Name of the event."""
    payload: Any = field(default=None, evaluated=False)
    """Data that receivers get."""
    correlation_id: str | None = None
    """Deliver only to instances with this correlation id."""
    local: bool = False
    """Deliver only to this instance."""

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
                (JournalEvent.PUBLISHED, index, n, at, {"name": event["name"], "payload": captured(payload)})
            )
            live.journal.append((COMPLETED, index, n, at, None))
            done(live, owner, scope, None)

        return op


class RunTask(Activity, pure=True, category="Events", icon="clipboard-check"):
    """Requests work from an external system and waits until that system reports the result."""

    task_name: str
    """Name of the task, by which the external system selects its handler."""
    payload: Any = field(default=None, evaluated=False)
    """Data for the external system."""
    task_id: str = output()
    """Id of the task. The external system reports the result with it."""
    result: Any = output()
    """Result that the external system reported."""

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
