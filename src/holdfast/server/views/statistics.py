"""Dashboard figures from the projection of instances: counts per hour or day, percentiles, hot spots.

Counts by status and by hour are exact: the store keeps them. Durations and figures by definition come from the instances that
started and ended last, at most `SAMPLE_MAX` of each; `sampled` is set if there were more. Work and incidents are counted up to
`COUNT_MAX`. So the cost does not depend on the number of instances.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort, InstanceSummary
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal
from holdfast.server.schemas.instances import InstanceItem
from holdfast.server.schemas.operations import (
    Attention,
    DefinitionStatistics,
    Durations,
    Statistics,
    ThroughputPoint,
)
from holdfast.server.views import incidents, instances
from holdfast.settings import parse_duration

SAMPLE_MAX = 1_000
COUNT_MAX = 1_000
RANGE_MAX = timedelta(days=90)
HOURLY_UP_TO = timedelta(days=3)
ATTENTION_MAX = 20
STUCK_SCAN_MAX, STUCK_MAX = 5_000, 100


async def collect(server: Backend, range: str) -> Statistics:
    span = read_range(range)
    now = await server.store.now()
    interval: Literal["hour", "day"] = "hour" if span <= HOURLY_UP_TO else "day"
    step = timedelta(hours=1) if interval == "hour" else timedelta(days=1)
    begins = _floor(now - span, step)
    by_status = dict(await server.store.count_by_status(server.tenant, InstanceFilter(system=False)))
    stats = await server.store.stats(server.tenant, at_most=COUNT_MAX)
    stuck = await _stuck(server, by_status)
    ended = await _sample(server, InstanceFilter(finished_from=begins, system=False), InstanceSort.FINISHED)
    started = await _sample(server, InstanceFilter(created_from=begins, system=False), InstanceSort.CREATED)
    return Statistics(
        range=range,
        begins=begins,
        interval=interval,
        throughput=await _throughput(server, begins, now, step),
        by_status=by_status,
        durations=_durations(ended),
        by_definition=await _by_definition(server, started, ended),
        oldest_waiting=await _oldest(server),
        stuck=0 if stuck is None else stuck,
        stuck_counted=stuck is not None,
        incidents_open=stats.incidents_open,
        dead_letters=stats.dead_letters,
        work_ready=stats.work_ready,
        work_later=stats.work_later,
        sampled=max(len(ended), len(started)) >= SAMPLE_MAX,
        needs_attention=await _attention(server),
    )


def read_range(text: str) -> timedelta:
    try:
        span = parse_duration(text)
    except (ValueError, TypeError, OverflowError) as error:
        raise Refusal(422, "range.invalid", f"'{text}' is not a range. Write 1h, 24h, 7d or 30d.") from error
    if span > RANGE_MAX:
        raise Refusal(422, "range.invalid", "The range is longer than 90d. Choose a shorter one.")
    return span


def _floor(moment: datetime, step: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (moment - epoch) // step * step


async def _sample(server: Backend, filter: InstanceFilter, sort: InstanceSort) -> Sequence[InstanceSummary]:
    """The latest instances that match."""
    query = InstanceQuery(tenant=server.tenant, filter=filter, sort=sort, limit=SAMPLE_MAX)
    return (await server.store.search(query)).items


async def _throughput(server: Backend, begins: datetime, now: datetime, step: timedelta) -> list[ThroughputPoint]:
    counts: Counter[tuple[datetime, str]] = Counter()
    for found in await server.store.count_by_hour(server.tenant, begins):
        counts[_floor(found.hour, step), found.event] += found.count
    points = []
    moment = begins
    while moment <= now:
        points.append(
            ThroughputPoint(
                hour=moment,
                started=counts[moment, "started"],
                finished=counts[moment, Status.FINISHED.value],
                faulted=counts[moment, Status.FAULTED.value],
            )
        )
        moment += step
    return points


def _durations(ended: Sequence[InstanceSummary]) -> Durations:
    taken = sorted(
        (row.finished - row.created).total_seconds() * 1000
        for row in ended
        if row.finished is not None and row.status == Status.FINISHED.value
    )
    return Durations(
        p50_ms=percentile(taken, 0.5),
        p95_ms=percentile(taken, 0.95),
        p99_ms=percentile(taken, 0.99),
        samples=len(taken),
    )


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of all values do not exceed."""
    if not ordered:
        return None
    place = max(0, -(-len(ordered) * share // 1) - 1)
    return round(ordered[min(int(place), len(ordered) - 1)], 3)


async def _by_definition(
    server: Backend, started: Sequence[InstanceSummary], ended: Sequence[InstanceSummary]
) -> list[DefinitionStatistics]:
    """Hot spots: most faults first, then most starts."""
    groups: dict[str, tuple[list[InstanceSummary], list[InstanceSummary]]] = defaultdict(lambda: ([], []))
    for row in started:
        groups[row.definition_id][0].append(row)
    for row in ended:
        groups[row.definition_id][1].append(row)
    found = []
    for name, (created_rows, done) in groups.items():
        durations = _durations(done)
        found.append(
            DefinitionStatistics(
                definition_id=name,
                name=await server.title((created_rows or done)[0].content, name),
                started=len(created_rows),
                finished=sum(row.status == Status.FINISHED.value for row in done),
                faulted=sum(row.status == Status.FAULTED.value for row in done),
                incidents=sum(row.incidents for row in {row.id: row for row in (*created_rows, *done)}.values()),
                p50_ms=durations.p50_ms,
                p95_ms=durations.p95_ms,
            )
        )
    return sorted(found, key=lambda item: (-item.faulted, -item.started, item.definition_id))


async def _oldest(server: Backend) -> InstanceItem | None:
    page = await server.store.search(
        InstanceQuery(
            tenant=server.tenant,
            filter=InstanceFilter(statuses=(Status.SUSPENDED.value,), system=False),
            sort=InstanceSort.UPDATED,
            descending=False,
            limit=1,
        )
    )
    return await instances.item(server, page.items[0]) if page.items else None


async def _stuck(server: Backend, by_status: Mapping[str, int]) -> int | None:
    """None if there are too many live instances for this slow scan; `/metrics` scans in the background."""
    alive = sum(count for status, count in by_status.items() if not Status(status).at_rest)
    if alive > STUCK_SCAN_MAX:
        return None
    return sum(key.tenant == server.tenant for key in await server.store.find_stuck(STUCK_MAX))


async def _attention(server: Backend) -> list[Attention]:
    found = [
        Attention(
            kind="incident",
            message=f"{item.type}: {item.message}",
            instance_id=item.instance_id,
            definition_id=None,
            at=item.at,
        )
        for item in await incidents.listed(server, limit=ATTENTION_MAX)
    ]
    letters = await server.store.list_dead_letters(server.tenant, limit=ATTENTION_MAX)
    found += [
        Attention(
            kind="dead_letter",
            message=f"{row.work.kind} work failed permanently: {row.reason}",
            instance_id=row.work.instance_id,
            at=row.died,
        )
        for row in letters
    ]
    now = await server.store.now()
    found += [
        Attention(
            kind="node", message=f"Node '{row.id}' stopped sending heartbeats without shutting down.", at=row.heartbeat
        )
        for row in await server.store.list_nodes()
        if not row.alive_at(now) and row.state.value != "left"
    ]
    found.sort(key=lambda item: item.at or datetime.min.replace(tzinfo=UTC), reverse=True)
    return found[:ATTENTION_MAX]
