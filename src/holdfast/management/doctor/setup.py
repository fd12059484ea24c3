"""Diagnosis of a set-up: database, schema, clock, nodes, waiting work, broker."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.errors import HoldfastError, SchemaMismatch
from holdfast.management.doctor.findings import Finding, Level
from holdfast.management.unserved import Unserved, tenants_with_work, unserved_queues
from holdfast.model.cluster import NodeRow
from holdfast.model.node_details import read_details
from holdfast.model.stored import InstanceKey
from holdfast.model.upkeep import StoreStats
from holdfast.ports import Clock, Store, Transport
from holdfast.runtime.plans.missing_code import lacking_code, missing_code

SKEW_MAX = timedelta(seconds=2)
OVERDUE_AFTER = timedelta(minutes=1)
STUCK_MAX = 10
BURIED_MAX = 200
UNSERVED_MAX = 20
DEAD_SHOWN_FOR = timedelta(hours=1)


async def check_store(store: Store, clock: Clock) -> list[Finding]:
    """Opens the store without migrating it, and closes it again."""
    try:
        report = await store.migrate(check=True)
        if report.pending:
            return [_pending(store, report.pending)]
        await store.open(migrate=False)
    except SchemaMismatch as error:
        return [Finding(subject="schema", level=Level.WRONG, message=str(error))]
    except HoldfastError as error:
        return [Finding(subject="database", level=Level.WRONG, message=str(error))]
    try:
        return [
            Finding(subject="database", message=f"{store.name} answers"),
            Finding(subject="schema", message=f"up to date, {report.schema}"),
            await _clock(store, clock),
            *_nodes(await store.list_nodes(), await store.now()),
            *_work(await store.stats(), await store.now()),
            *await _unserved(store),
            await _stuck(store),
            *await _buried(store),
            *await _missing_code(store),
        ]
    finally:
        await store.close()


def _pending(store: Store, names: Sequence[str]) -> Finding:
    return Finding(
        subject="schema",
        level=Level.WRONG,
        message=f"{store.name} answers, but lacks {len(names)} migration{'s' * (len(names) != 1)}: {', '.join(names)}",
        remedy="holdfast migrate --store URL",
    )


async def _clock(store: Store, clock: Clock) -> Finding:
    """The clock difference. Nodes follow the clock of the database; logs and other programs do not."""
    before = clock.now()
    there = await store.now()
    middle = before + (clock.now() - before) / 2
    skew = abs(there - middle)
    shown = f"{skew.total_seconds() * 1000:.0f} ms between this machine and the database"
    if skew <= SKEW_MAX:
        return Finding(subject="clock", message=shown)
    return Finding(
        subject="clock",
        level=Level.WRONG,
        message=shown,
        remedy="Synchronize both with the same time server (NTP): otherwise logs and journal show different times.",
    )


def _nodes(nodes: Sequence[NodeRow], now: datetime) -> list[Finding]:
    alive = [node for node in nodes if node.alive_at(now)]
    dead = [
        node
        for node in nodes
        if node.state != "left" and not node.alive_at(now) and now - node.heartbeat < DEAD_SHOWN_FOR
    ]
    works = any(read_details(node.details).queues for node in alive)
    names = ": " + ", ".join(node.id for node in alive[:5]) if alive else ""
    found = [
        Finding(
            subject="nodes",
            level=Level.OK if works else Level.HINT,
            message=f"{len(alive)} alive{names}{'; none takes work' if alive and not works else ''}",
            remedy="" if works else "No node takes work. Start one: holdfast worker, or holdfast serve.",
        )
    ]
    if dead:
        names = ", ".join(node.id for node in dead[:5])
        found.append(
            Finding(
                subject="nodes",
                level=Level.HINT,
                message=f"{len(dead)} died within the last hour: {names}",
                remedy="Check their logs. Live nodes take over their effects.",
            )
        )
    return found


def _work(stats: StoreStats, now: datetime) -> list[Finding]:
    found = []
    late = stats.oldest_ready is not None and now - stats.oldest_ready > OVERDUE_AFTER
    age = "" if stats.oldest_ready is None else f", the oldest for {_short(now - stats.oldest_ready)}"
    found.append(
        Finding(
            subject="work",
            level=Level.WRONG if late else Level.OK,
            message=f"{stats.work_ready} ready{age}; {stats.work_later} later; {stats.effects} effects open",
            remedy="There are too few workers, or none serves these queues: a finding `queues` names each of them."
            if late
            else "",
        )
    )
    if stats.dead_letters:
        found.append(
            Finding(
                subject="dead letters",
                level=Level.WRONG,
                message=f"{stats.dead_letters} work rows failed for good",
                remedy="holdfast dead-letters list, then replay or discard.",
            )
        )
    if stats.incidents_open:
        found.append(
            Finding(
                subject="incidents",
                level=Level.HINT,
                message=f"{stats.incidents_open} open",
                remedy="holdfast instances list --incidents, then retry or cancel.",
            )
        )
    return found


async def _unserved(store: Store) -> list[Finding]:
    """Queues of all tenants with overdue work that no live node serves."""
    now = await store.now()
    found = await unserved_queues(store, await tenants_with_work(store))
    shown = [_unserved_queue(item, now) for item in found[:UNSERVED_MAX]]
    if len(found) > UNSERVED_MAX:
        more = len(found) - UNSERVED_MAX
        shown.append(Finding(subject="queues", level=Level.WRONG, message=f"and {more} more queues without a node"))
    return shown


def _unserved_queue(item: Unserved, now: datetime) -> Finding:
    tenant = f" of tenant '{item.tenant}'" if item.tenant else ""
    what = f"the queue '{item.name}'{tenant}" if item.tenant_is_served else f"the tenant '{item.tenant}'"
    waits = "" if item.tenant_is_served else f" in the queue '{item.name}'"
    if not item.tenant and not item.tenant_is_served:
        what, waits = f"the queue '{item.name}'", ""
    tenants = f" --tenants {item.tenant}" if item.tenant else ""
    return Finding(
        subject="queues",
        level=Level.WRONG,
        message=f"no live node serves {what}; its oldest work{waits} has been due for {_short(now - item.since)}",
        remedy=f"holdfast worker --queues {item.name}{tenants}",
    )


async def _stuck(store: Store) -> Finding:
    """Every live instance must have a bookmark, work or an effect that wakes it (rule M11)."""
    stuck = await store.find_stuck(STUCK_MAX)
    if not stuck:
        return Finding(subject="stuck", message="every live instance has a bookmark, work or an effect that wakes it")
    names = ", ".join(key.id for key in stuck)
    return Finding(
        subject="stuck",
        level=Level.WRONG,
        message=f"nothing can wake these instances: {names}",
        remedy="This is a bug: please report it with `holdfast doctor instance ID`. Retry or cancel the instances.",
    )


async def _missing_code(store: Store) -> list[Finding]:
    """Work of all tenants that no live node can run (rule H10)."""
    found: list[Finding] = []
    for tenant in await tenants_with_work(store):
        found += await _missing_code_of(store, tenant)
    return found


async def _missing_code_of(store: Store, tenant: str) -> list[Finding]:
    """Incidents, and obstacles that are younger."""
    noticed = await missing_code(store, tenant)
    nowhere = await lacking_code(store, tenant)
    now = await store.now()
    whose = f" of tenant '{tenant}'" if tenant else ""
    return [
        Finding(
            subject="code",
            level=Level.WRONG,
            message=f"version {item.version} of '{item.definition_id}'{whose} cannot be run by any live node: {item.reason}"
            f"{_waiting(item.instances, item.waiting)}",
            remedy=item.remedy,
        )
        for item in noticed
    ] + [
        Finding(
            subject="code",
            level=Level.HINT,
            message=f"no live node has had the code of waiting instances{whose} for {_short(now - item.since)}: {item.reason}"
            f"{_waiting(item.instances, item.waiting)}",
            remedy=item.remedy,
        )
        for name, item in nowhere.items()
        if name not in {item.name or item.content for item in noticed}
    ]


def _waiting(count: int, names: Sequence[str]) -> str:
    if not count:
        return ""
    listed = f" ({', '.join(names)}{', …' if count > len(names) else ''})" if names else ""
    return f" {count} instance{'s' * (count != 1)} wait{'s' * (count == 1)}{listed}."


async def _buried(store: Store) -> list[Finding]:
    """Live instances that wait for work that is a dead letter. Earlier releases buried work that met missing code."""
    tenants = await tenants_with_work(store)
    letters = [item.work for name in tenants for item in await store.list_dead_letters(name, limit=BURIED_MAX)]
    keys = list(dict.fromkeys(InstanceKey(row.tenant, row.instance_id) for row in letters if row.instance_id))
    if not keys:
        return []
    found = (await store.load(keys)).instances
    waiting = [key.id for key in keys if (row := found.get(key)) is not None and row.finished is None]
    if not waiting:
        return []
    names = ", ".join(waiting[:5]) + (", …" if len(waiting) > 5 else "")
    return [
        Finding(
            subject="dead letters",
            level=Level.WRONG,
            message=f"{len(waiting)} live instance{'s' * (len(waiting) != 1)} may wait for work that is a dead letter: {names}",
            remedy="When the code can read them, replay their dead letters: holdfast dead-letters replay ID.",
        )
    ]


async def check_transport(transport: Transport) -> Finding:
    try:
        await transport.open()
    except HoldfastError as error:
        return Finding(subject="transport", level=Level.WRONG, message=str(error))
    await transport.close()
    return Finding(subject="transport", message=f"{transport.name} answers")


def _short(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
