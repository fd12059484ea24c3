"""Cron expressions: next due times in a time zone, across daylight saving changes.

Five fields (minute hour day month weekday), or six with seconds first; nicknames such as `@daily`; `?` is an alias of `*`.
cronsim parses them; only this module imports it. The port is `holdfast.ports.CronCalendar`.

Local time skips and repeats hours. A rule of fixed times (`30 2 * * *`) fires once a day: at the end of the gap if its time
does not exist that day, and at the first occurrence if its time occurs twice. A rule with a star for minute or hour
(`*/15 * * * *`) follows elapsed time: it continues through a repeated hour and does not fire for a skipped one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from holdfast.errors import InvalidCron

_NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
    "@every_second": "* * * * * *",
}
_MINUTE = timedelta(minutes=1)


class CronCalendar:
    """Implements `holdfast.ports.CronCalendar`."""

    def check(self, expression: str, zone: str) -> None:
        if next_time(expression, zone, datetime(2000, 1, 1, tzinfo=UTC)) is None:
            raise InvalidCron(expression, "it has no due time within 50 years")

    def next(self, expression: str, zone: str, after: datetime) -> datetime | None:
        return next_time(expression, zone, after)


CRON = CronCalendar()


def next_time(expression: str, zone: str, after: datetime) -> datetime | None:
    """The first due time after `after`, in UTC, or None if there is none within 50 years. Raises `InvalidCron`."""
    return next(times_after(expression, zone, after), None)


def next_times(expression: str, zone: str, after: datetime, count: int) -> list[datetime]:
    return list(islice(times_after(expression, zone, after), count))


def times_after(expression: str, zone: str, after: datetime) -> Iterator[datetime]:
    """The due times after `after`, in UTC, ascending."""
    fields, place = expanded(expression), find_zone(zone)
    minute, hour = fields.split()[-5:-3]
    if minute.startswith("*") or hour.startswith("*"):
        found = (moment.astimezone(UTC) for moment in _walk(fields, after.astimezone(place)))
    else:
        found = (_on_the_clock(wall, place) for wall in _walk(fields, after.astimezone(place).replace(tzinfo=None)))
    last = after
    for moment in found:
        if moment > last:  # Two times in one gap coincide; the repetition of a wall time is not later.
            last = moment
            yield moment


def expanded(expression: str) -> str:
    """The expression as five or six fields."""
    written = " ".join(expression.split())
    if written.startswith("@"):
        if written.lower() not in _NICKNAMES:
            raise InvalidCron(expression, f"the nickname '{written}' is unknown; use one of {', '.join(_NICKNAMES)}")
        return _NICKNAMES[written.lower()]
    if len(written.split()) not in (5, 6):
        raise InvalidCron(expression, f"it has {len(written.split())} fields")
    return written.replace("?", "*")


@lru_cache(maxsize=256)
def find_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise InvalidCron(name, "there is no such time zone; write it as Europe/Berlin or UTC") from error


def _walk(fields: str, start: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError  # imported here: most workflows have no cron

    try:
        found: Any = CronSim(fields, start)
    except CronSimError as error:
        raise InvalidCron(fields, str(error)) from error
    except (ValueError, AssertionError) as error:
        raise InvalidCron(fields, "it is not a valid cron expression") from error
    yield from found


def _on_the_clock(wall: datetime, place: ZoneInfo) -> datetime:
    """The time at which the clock shows `wall`: the first of two occurrences, or the end of the gap."""
    moment = wall.replace(tzinfo=place).astimezone(UTC)
    while moment.astimezone(place).replace(tzinfo=None) != wall:
        wall = wall.replace(second=0) + _MINUTE
        moment = wall.replace(tzinfo=place).astimezone(UTC)
    return moment
