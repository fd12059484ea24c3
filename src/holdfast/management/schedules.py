"""Schedules of published definitions: written at publish, listed, paused, resumed and run at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import PlaceTaken, ScheduleNotFound
from holdfast.model import schedule
from holdfast.model.schedule import Calendar, Rule
from holdfast.model.work import ScheduleRow
from holdfast.runtime.facade import Runtime

Trigger = tuple[str, str, Mapping[str, Any]]
"""Activity type, activity id, payload as `trigger_payloads` gave it."""


class Schedule(Struct, frozen=True, kw_only=True):
    """A schedule with its rule in readable form."""

    id: str
    definition_id: str
    activity_id: str
    type: str
    """`Timer`, `Cron` or `StartAt`."""
    rule: str
    """The cron expression, the interval or the moment."""
    zone: str
    misfire: str
    due: datetime | None
    """None: the schedule is paused, or never fires again."""
    fired: datetime | None
    paused: bool


def schedules_of(
    tenant: str, definition_id: str, triggers: Iterable[Trigger], now: datetime, calendar: Calendar
) -> list[ScheduleRow]:
    """The rows of a published definition; triggers of other types are ignored. Raises `InvalidCron`."""
    rows = []
    for type, activity_id, payload in triggers:
        if type in schedule.TYPES:
            rule = schedule.rule_of(type, activity_id, payload, calendar)
            rows.append(
                ScheduleRow(
                    tenant=tenant,
                    id=schedule.schedule_id(definition_id, activity_id),
                    definition_id=definition_id,
                    due=schedule.next_due(rule, calendar, now),
                    payload=schedule.encode_rule(rule),
                )
            )
    return rows


class Schedules:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    # -- publishing ----------------------------------------------------------------------------------------------------

    async def put(self, definition_id: str, triggers: Iterable[Trigger]) -> list[ScheduleRow]:
        """Replace the schedules of a definition; no triggers: remove them. A schedule whose rule did not change keeps its due
        time, and a paused schedule stays paused."""
        runtime = self._runtime
        store = runtime.store
        rows = schedules_of(runtime.tenant, definition_id, triggers, await store.now(), runtime.calendar)
        stored = await store.list_schedules(runtime.tenant, definition_id)
        if not rows and not stored:
            return []
        paused = {row.id for row in stored if _rule(row).paused}
        rows = [_paused(row) if row.id in paused else row for row in rows]
        await store.put_schedules(runtime.tenant, definition_id, rows)
        return rows

    # -- reading -------------------------------------------------------------------------------------------------------

    async def list(self, definition_id: str | None = None) -> list[Schedule]:
        rows = await self._runtime.store.list_schedules(self._runtime.tenant, definition_id)
        return [_shown(row) for row in rows]

    async def get(self, id: str) -> Schedule:
        return _shown(await self._row(id))

    async def next_times(self, id: str, count: int = 5) -> Sequence[datetime]:
        row = await self._row(id)
        return schedule.upcoming(_rule(row), self._runtime.calendar, row.due, count)

    async def preview(self, expression: str, zone: str = "UTC", count: int = 5) -> Sequence[datetime]:
        """The next times of a cron expression that is not stored yet. Raises `InvalidCron`."""
        rule = Rule(type="Cron", activity_id="", expression=expression, zone=zone)
        calendar = self._runtime.calendar
        calendar.check(expression, zone)
        first = schedule.next_due(rule, calendar, await self._runtime.store.now())
        return schedule.upcoming(rule, calendar, first, count)

    # -- actions -------------------------------------------------------------------------------------------------------

    async def pause(self, id: str) -> Schedule:
        """Pause the schedule until it is resumed, also across publishes. Idempotent."""
        return await self._rewrite(_paused(await self._row(id)))

    async def resume(self, id: str) -> Schedule:
        """Resume the schedule from now on; firings missed during the pause are lost."""
        row = await self._row(id)
        rule = _rule(row)
        if not rule.paused:
            return _shown(row)
        awake = replace(rule, paused=False)
        due = schedule.next_due(awake, self._runtime.calendar, await self._runtime.store.now())
        return await self._rewrite(replace(row, due=due, payload=schedule.encode_rule(awake)))

    async def run_now(self, id: str) -> str:
        """Start an instance as the schedule would; its row is not changed. Raises `PlaceTaken` if the definition allows
        one instance at a time and one runs."""
        runtime = self._runtime
        row = await self._row(id)
        answer = await runtime.begin_schedule(row, _rule(row), await runtime.store.now())
        if answer.existing is not None or answer.result is None:
            raise PlaceTaken(answer.existing or "", "running", answer.existing)
        return answer.result.instance_id

    async def _row(self, id: str) -> ScheduleRow:
        rows = await self._runtime.store.list_schedules(self._runtime.tenant)
        found = next((row for row in rows if row.id == id), None)
        if found is None:
            raise ScheduleNotFound(id)
        return found

    async def _rewrite(self, row: ScheduleRow) -> Schedule:
        """Replace one row. The store compares payloads, so other schedules of the definition keep their due times."""
        store, tenant = self._runtime.store, self._runtime.tenant
        rows = await store.list_schedules(tenant, row.definition_id)
        await store.put_schedules(tenant, row.definition_id, [row if item.id == row.id else item for item in rows])
        return _shown(row)


def _rule(row: ScheduleRow) -> Rule:
    return schedule.decode_rule(row.payload)


def _paused(row: ScheduleRow) -> ScheduleRow:
    return replace(row, due=None, payload=schedule.encode_rule(replace(_rule(row), paused=True)))


def _shown(row: ScheduleRow) -> Schedule:
    rule = _rule(row)
    return Schedule(
        id=row.id,
        definition_id=row.definition_id,
        activity_id=rule.activity_id,
        type=rule.type,
        rule=rule.expression or str(rule.interval or rule.at or ""),
        zone=rule.zone,
        misfire=rule.misfire.value,
        due=row.due,
        fired=row.fired,
        paused=rule.paused,
    )
