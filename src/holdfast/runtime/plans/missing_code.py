"""Missing code of stored definitions: which node lacks it, and an incident where no node has it (rule H10).

A node compiles the contents of live instances when it starts to take work, and every minute after that. It leaves contents that
it cannot compile to other nodes, and records that it lacks their code. When every live node has lacked the code of a version for
five minutes, one of them opens an incident with the remedy; the instances stay as they are. A node that can run the version ends
the incident.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from holdfast.errors import HoldfastError
from holdfast.model.cluster import NodeState
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.service import PeriodicService

logger = logging.getLogger("holdfast")

LACKING = "lacking-code"
"""Kind of the records of nodes that cannot run a content; id `<content>@<node>`."""
MISSING = "missing-code"
"""Kind of the records of contents that no live node can run: the incidents; id `<content>`."""

INCIDENT_AFTER = timedelta(minutes=5)
"""Time for which every live node must lack the code before an incident is opened."""
CHECK_INTERVAL = timedelta(minutes=1)
REMEDY = "Deploy the module again, keep the old name as an alias (@activity(aliases=[…])), or migrate the instances."
RECORDS_MAX = 1_000
"""Records that one query reads."""

_TenantContent = tuple[str, str]


class MissingCode(Struct, frozen=True, kw_only=True):
    """The incident of a version whose code no live node has."""

    content: str
    definition_id: str
    version: int
    since: datetime
    instances: int
    """Number of instances that waited when the incident was opened; they stay suspended."""
    reason: str
    remedy: str = REMEDY


async def missing_code(store: Store, tenant: str) -> list[MissingCode]:
    """The incidents of versions that no live node can run, the latest first."""
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=MISSING, limit=RECORDS_MAX))
    return [msgspec.json.decode(row.payload, type=MissingCode) for row in rows]


async def lacking_code(store: Store, tenant: str) -> dict[str, tuple[datetime, str]]:
    """Contents that no live node can run: since when, and why."""
    now = await store.now()
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=LACKING, limit=RECORDS_MAX))
    alive = {
        (row.id, str(row.boot)) for row in await store.list_nodes() if row.alive_at(now) and row.state is NodeState.LIVE
    }
    found: dict[str, tuple[datetime, str]] = {}
    for content in {row.owner for row in rows}:
        by_node = {(row.id.partition("@")[2], row.state): row for row in rows if row.owner == content}
        if alive and alive <= by_node.keys():
            latest = max((by_node[node] for node in alive), key=lambda row: row.created)
            found[str(content)] = (latest.created, latest.payload.decode())
    return found


class MissingCodeWatch:
    def __init__(
        self, store: Store, tenants: Collection[str], membership: Membership, plans: Plans, log: OutageLog
    ) -> None:
        self._store = store
        self._tenants = tenants
        self._membership = membership
        self._plans = plans
        self._service = PeriodicService(
            "missing-code",
            self.check,
            every=CHECK_INTERVAL,
            failure="the code of live instances could not be checked",
            log=log,
        )
        self._recorded: set[_TenantContent] = set()
        """Contents for which this node has written a `lacking-code` record."""
        self._able: set[_TenantContent] = set()
        """Contents that this process can run; its code does not change."""

    def start(self) -> None:
        self._service.start()

    async def stop(self) -> None:
        await self._service.stop()

    async def check(self) -> None:
        """Compile the contents of all live instances, record missing code, and open incidents."""
        live: dict[str, dict[str, int]] = {tenant: {} for tenant in self._tenants}
        now = await self._store.now()
        for (tenant, content), count in (await self._store.live_contents()).items():
            if tenant in live:
                live[tenant][content] = count
        for tenant, contents in live.items():
            await self._check_tenant(tenant, contents, now)

    async def _check_tenant(self, tenant: str, live: dict[str, int], now: datetime) -> None:
        """`live` is the number of live instances by content."""
        able = {content for owner, content in self._able if owner == tenant}
        self._able -= {(tenant, content) for content in able - live.keys()}
        reasons: dict[str, str] = {}
        for content in live.keys() - able:
            reason = await self._why_unable(tenant, content)
            if reason is None:
                await self._record_found(tenant, content)
                self._able.add((tenant, content))
            else:
                reasons[content] = reason
                await self._record_lacking(tenant, content, reason, live[content], now)
        for content in {content for owner, content in self._recorded if owner == tenant} - live.keys():
            await self._record_found(tenant, content)
        nowhere = await lacking_code(self._store, tenant) if reasons else {}
        for content in reasons.keys() & nowhere.keys():
            since, _ = nowhere[content]
            if now - since >= INCIDENT_AFTER:
                await self._open_incident(tenant, content, reasons[content], since, live[content], now)

    async def _why_unable(self, tenant: str, content: str) -> str | None:
        """Why this process cannot run a content; None if it can."""
        await asyncio.sleep(0)  # Compiling takes long: let other tasks of the event loop run in between.
        try:
            await self._plans.of(tenant).plan(content)
        except HoldfastError as error:
            return str(error)
        self._plans.lacking.discard(content)
        return None

    async def _record_found(self, tenant: str, content: str) -> None:
        self._recorded.discard((tenant, content))
        await self._store.delete_record(tenant, LACKING, self._record_id(content))
        if await self._store.delete_record(tenant, MISSING, content):
            logger.warning("content %s can be run again: node %s has its code", content, self._membership.name)

    async def _record_lacking(self, tenant: str, content: str, reason: str, count: int, now: datetime) -> None:
        if (tenant, content) in self._recorded:
            return
        row = RecordRow(
            tenant=tenant,
            kind=LACKING,
            id=self._record_id(content),
            owner=content,
            state=str(self._membership.owner.boot),
            created=now,
            updated=now,
            payload=reason.encode(),
        )
        # A record of an earlier boot counts from the start of that boot; replace it.
        await self._store.delete_record(tenant, LACKING, row.id)
        await self._store.put_record(row)
        self._recorded.add((tenant, content))
        definition_id, version = await self._version_of(tenant, content)
        logger.warning(
            "%s live instance(s) of '%s' version %s are left to other nodes: %s", count, definition_id, version, reason
        )

    def _record_id(self, content: str) -> str:
        return f"{content}@{self._membership.name}"

    async def _open_incident(
        self, tenant: str, content: str, reason: str, since: datetime, count: int, now: datetime
    ) -> None:
        if await self._store.get_record(tenant, MISSING, content) is not None:
            return
        definition_id, version = await self._version_of(tenant, content)
        missing = MissingCode(
            content=content,
            definition_id=definition_id,
            version=version,
            since=since,
            instances=count,
            reason=reason,
        )
        row = RecordRow(
            tenant=tenant,
            kind=MISSING,
            id=content,
            owner=missing.definition_id,
            state="open",
            created=now,
            updated=now,
            payload=msgspec.json.encode(missing),
        )
        if await self._store.put_record(row):  # Of several nodes that detect it at once, one writes the record.
            logger.error(
                "no live node can run version %s of '%s' (%s instances wait): %s %s",
                missing.version,
                missing.definition_id,
                count,
                reason,
                missing.remedy,
            )

    async def _version_of(self, tenant: str, content: str) -> tuple[str, int]:
        """Definition and version of a live instance of the content."""
        query = InstanceQuery(tenant=tenant, filter=InstanceFilter(contents=(content,)), limit=1)
        page = await self._store.search(query)
        return (page.items[0].definition_id, page.items[0].definition_version) if page.items else (content, 0)
