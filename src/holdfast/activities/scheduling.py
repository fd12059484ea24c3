"""Scheduling activities: a bookmark with a due time, or, as a trigger, a schedule that starts instances.

The payload of a trigger is its schedule (`holdfast.model.schedule`). Publishing stores it, and the cluster fires by the
stored schedule.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field
from holdfast.errors import ExecutionError
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.cron import CRON
from holdfast.model.schedule import Misfire
from holdfast.model.scope import Scope
from holdfast.model.types import convert
from holdfast.ports import CronCalendar, Services


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
    """Accepts a duration or a number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return timedelta(seconds=value)
    found: timedelta = convert(value, "duration")
    return found


class Delay(Activity, pure=True, category="Scheduling", icon="hourglass"):
    """Waits for a duration."""

    duration: timedelta
    """Duration or number of seconds."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        duration_of = builder.input("duration", timedelta(minutes=1))
        return _waiting(
            builder, lambda live, scope: live.moment() + _duration(duration_of(scope)), past_completes=False
        )


class Timer(Activity, pure=True, trigger=True, category="Scheduling", icon="timer"):
    """Starts the workflow at a fixed interval. Inside a workflow it waits for one interval, like Delay."""

    interval: timedelta
    """Time between two starts."""
    misfire: str = field(default="fire_once", kw_only=True)
    """Policy for firings that were missed while no node was running: `fire_once`, `skip` or `catch_up`."""
    catch_up_max: int = field(default=10, kw_only=True)
    """With `catch_up`: maximum number of missed firings to run. The latest ones run."""

    def trigger_payloads(self) -> list[dict[str, Any]]:
        interval = _duration(self.interval)
        if interval <= timedelta(0):
            raise ExecutionError("A timer needs an interval above zero, such as PT30S.")
        return [{"interval": interval, **_misfire(self.misfire, self.catch_up_max)}]

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        interval_of = builder.input("interval", timedelta(minutes=1))
        return _waiting(
            builder, lambda live, scope: live.moment() + _duration(interval_of(scope)), past_completes=False
        )


class StartAt(Activity, pure=True, trigger=True, category="Scheduling", icon="calendar-clock"):
    """Waits until a moment, or starts the workflow at that moment. Completes at once if the moment has passed."""

    at: datetime
    """Date and time with a time zone."""

    def trigger_payloads(self) -> list[dict[str, Any]]:
        at: datetime = convert(self.at, "datetime")
        return [{"at": at.astimezone(UTC)}]

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        at_of = builder.input("at")

        def due(live: LiveInstance, scope: Scope) -> datetime:
            found: datetime = convert(at_of(scope), "datetime")
            return found.astimezone(UTC)

        return _waiting(builder, due, past_completes=True)


class Cron(Activity, pure=True, trigger=True, category="Scheduling", icon="calendar-sync"):
    """Starts the workflow on a cron schedule. Inside a workflow it waits for the next time of the schedule.

    The expression has five fields, or six with seconds first; `@daily` and similar shortcuts work too. A job with a
    fixed time fires exactly once a day, also on days when daylight saving time starts or ends.
    """

    expression: str
    """Cron expression, such as `0 9 * * MON-FRI`."""
    zone: str = "UTC"
    """Time zone of the expression, such as `Europe/Berlin`."""
    misfire: str = field(default="fire_once", kw_only=True)
    """Policy for firings that were missed while no node was running: `fire_once`, `skip` or `catch_up`."""
    catch_up_max: int = field(default=10, kw_only=True)
    """With `catch_up`: maximum number of missed firings to run. The latest ones run."""

    def trigger_payloads(self) -> list[dict[str, Any]]:
        expression, zone = str(self.expression), str(self.zone or "UTC")
        return [{"expression": expression, "zone": zone, **_misfire(self.misfire, self.catch_up_max)}]

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        expression_of, zone_of = builder.input("expression"), builder.input("zone", "UTC")

        def due(live: LiveInstance, scope: Scope) -> datetime:
            expression, zone = str(expression_of(scope)), str(zone_of(scope) or "UTC")
            found = calendar_of(live.services).next(expression, zone, live.moment())
            if found is None:
                raise ExecutionError(
                    f"The cron expression '{expression}' matches no time within 50 years. Correct the expression."
                )
            return found

        return _waiting(builder, due, past_completes=False)


def calendar_of(services: Services) -> CronCalendar:
    """The registered cron calendar, or the built-in one."""
    try:
        return services.get(CronCalendar)  # type: ignore[type-abstract]  # services are registered by their port
    except ExecutionError:
        return CRON


def _misfire(policy: object, limit: object) -> dict[str, Any]:
    try:
        return {"misfire": Misfire(str(policy)).value, "catch_up_max": max(1, int(str(limit)))}
    except ValueError:
        known = ", ".join(Misfire)
        raise ExecutionError(f"misfire must be one of {known}, and catch_up_max a whole number.") from None


ACTIVITIES = (Delay, Timer, StartAt, Cron)
