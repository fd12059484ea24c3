"""Waiting for time: a bookmark with a due moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from holdfast.authoring.activity import Activity
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.scope import Scope
from holdfast.model.types import convert


def _waiting(builder: NodeBuilder, due_of: Callable[[LiveInstance, Scope], datetime], *, past_completes: bool) -> Op:
    node = builder.node

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        due = due_of(live, scope)
        activation = live.activate(node, owner, scope)
        if live.takes_trigger(node) or (past_completes and due <= live.moment()):
            live.complete(activation)
        else:
            live.bookmark(activation, NewBookmark(payload={"due": due}, due=due))

    return op


def _duration(value: object) -> timedelta:
    """A duration, or a number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return timedelta(seconds=value)
    found: timedelta = convert(value, "duration")
    return found


class Delay(Activity, pure=True, category="Scheduling", icon="hourglass"):
    """Waits for a while."""

    duration: timedelta

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        duration_of = builder.input("duration", timedelta(minutes=1))
        return _waiting(
            builder, lambda live, scope: live.moment() + _duration(duration_of(scope)), past_completes=False
        )


class Timer(Activity, pure=True, trigger=True, category="Scheduling", icon="timer"):
    """Starts the workflow again and again; inside a workflow it waits once, as Delay does."""

    interval: timedelta

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        interval_of = builder.input("interval", timedelta(minutes=1))
        return _waiting(
            builder, lambda live, scope: live.moment() + _duration(interval_of(scope)), past_completes=False
        )


class StartAt(Activity, pure=True, trigger=True, category="Scheduling", icon="calendar-clock"):
    """Waits for a moment, or starts the workflow then; a moment that has passed completes at once."""

    at: datetime

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        at_of = builder.input("at")

        def due(live: LiveInstance, scope: Scope) -> datetime:
            found: datetime = convert(at_of(scope), "datetime")
            return found.astimezone(UTC)

        return _waiting(builder, due, past_completes=True)


ACTIVITIES = (Delay, Timer, StartAt)
