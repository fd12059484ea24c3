"""Watches missing code: which obstacles this node meets, and whether any node passes them (rule H10).

A node compiles the contents of live instances when it starts to take work, and every minute after that; an obstacle that work
meets is checked at once. The node leaves such work to other nodes and records why. When every node that takes the work has
lacked the code for five minutes, one of them opens an incident with the remedy; the instances stay as they are. A node that can
run them ends the incident.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta

import msgspec

from holdfast.errors import HoldfastError, InstanceNotFound
from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.stored import InstanceKey
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.missing_code import (
    INCIDENT_AFTER,
    LACKING,
    MISSING,
    RECORDS_MAX,
    REMEDY,
    WAITING_SHOWN,
    Lacking,
    incident,
    lacking_code,
)
from holdfast.runtime.plans.obstacles import Obstacle, content_of, is_parked_by_cause
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.service import PeriodicService

logger = logging.getLogger("holdfast")

CHECK_INTERVAL = timedelta(minutes=1)
_LIVE = tuple(item.value for item in Status if not item.at_rest)
_TenantName = tuple[str, str]

ReadInstance = Callable[[InstanceKey], Awaitable[object]]
"""Reads the state of a stored instance; raises `StateUnreadable` or `CodeMissing` if this process cannot."""


class MissingCodeWatch:
    def __init__(
        self,
        store: Store,
        tenants: Collection[str],
        membership: Membership,
        plans: Plans,
        read_instance: ReadInstance,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._tenants = tenants
        self._membership = membership
        self._plans = plans
        self._read_instance = read_instance
        self._service = PeriodicService(
            "missing-code",
            self.check,
            every=CHECK_INTERVAL,
            failure="the code of live instances could not be checked",
            log=log,
        )
        self._recorded: dict[_TenantName, Lacking] = {}
        """Obstacles for which this node has written a `lacking-code` record."""
        self._able: set[_TenantName] = set()
        """Contents that this process can run; its code does not change."""
        self._has_reviewed = False

    def start(self) -> None:
        self._plans.obstacles.on_change = self._service.wake
        self._service.start()

    async def stop(self) -> None:
        await self._service.stop()

    async def check(self) -> None:
        """Compile the contents of all live instances, record what this node cannot run, and open or end incidents."""
        if not self._has_reviewed:
            for tenant in self._tenants:
                await self._review_records(tenant)
            self._has_reviewed = True
        for tenant, name in self._plans.obstacles.take_passed():
            self._plans.obstacles.forget(tenant, name)
            await self._record_found(tenant, name)
        live: dict[str, dict[str, int]] = {tenant: {} for tenant in self._tenants}
        now = await self._store.now()
        self._plans.obstacles.reopen()
        for (tenant, content), count in (await self._store.live_contents()).items():
            if tenant in live:
                live[tenant][content] = count
        for tenant, contents in live.items():
            await self._check_tenant(tenant, contents, now)

    async def _check_tenant(self, tenant: str, live: dict[str, int], now: datetime) -> None:
        """`live` is the number of live instances by content."""
        met = {item.name: item for item in self._plans.obstacles.of(tenant)}
        contents = live.keys() | {item.content for item in met.values() if item.is_missing_code}
        able = {content for owner, content in self._able if owner == tenant}
        self._able -= {(tenant, content) for content in able - contents}
        lacking: set[str] = set()
        for content in contents - able:
            error = await self._why_unable(tenant, content)
            if error is None:
                self._plans.obstacles.forget(tenant, content)
                await self._record_found(tenant, content)
                self._able.add((tenant, content))
            else:
                lacking.add(content)
                await self._record_code(tenant, content, error, live.get(content, 0), now)
        for name, item in met.items():
            if not item.is_missing_code:
                lacking.add(name)
                await self._record_obstacle(item, now)
        for name in {name for owner, name in self._recorded if owner == tenant} - lacking:
            await self._record_found(tenant, name)
        nowhere = await lacking_code(self._store, tenant) if lacking else {}
        for name in lacking & nowhere.keys():
            if now - nowhere[name].since >= INCIDENT_AFTER:
                await self._open_incident(tenant, name, nowhere[name], now)

    async def _why_unable(self, tenant: str, content: str) -> HoldfastError | None:
        """Why this process cannot run a content; None if it can."""
        await asyncio.sleep(0)  # Compiling takes long: let other tasks of the event loop run in between.
        plans = self._plans.of(tenant)
        plans.look_again(content)
        try:
            await plans.plan(content)
        except HoldfastError as error:
            return error
        return None

    # -- records of this node ------------------------------------------------------------------------------------------

    async def _review_records(self, tenant: str) -> None:
        """Records of earlier processes: delete those of this node, and end incidents that this process does not have."""
        query = RecordQuery(tenant=tenant, kind=LACKING, limit=RECORDS_MAX)
        for row in await self._store.list_records(query):
            if row.id.endswith(f"@{self._membership.name}"):
                await self._store.delete_record(tenant, LACKING, row.id)
        for row in await self._store.list_records(RecordQuery(tenant=tenant, kind=MISSING, limit=RECORDS_MAX)):
            waiting = msgspec.json.decode(row.payload).get("waiting", ())
            if await self._passes(tenant, row.id, waiting):
                await self._record_found(tenant, row.id)

    async def _passes(self, tenant: str, name: str, waiting: Collection[str]) -> bool:
        """Whether this process can run the work of an incident, as far as its instances show."""
        if not is_parked_by_cause(name):
            return await self._why_unable(tenant, name) is None
        if not waiting:
            return False  # A row that is parked under this name shows it.
        for instance_id in waiting:
            try:
                await self._read_instance(InstanceKey(tenant, instance_id))
            except InstanceNotFound:
                continue
            except HoldfastError as error:
                self._plans.obstacles.met(tenant, error, instance_id=instance_id)
                return False
        return True

    async def _record_found(self, tenant: str, name: str) -> None:
        self._recorded.pop((tenant, name), None)
        await self._store.delete_record(tenant, LACKING, self._record_id(name))
        if await self._store.delete_record(tenant, MISSING, name):
            logger.warning("work of content %s can be run again, by node %s", content_of(name), self._membership.name)

    async def _record_code(self, tenant: str, content: str, error: HoldfastError, count: int, now: datetime) -> None:
        if (tenant, content) in self._recorded:
            return
        waiting, definition_id, version = await self._instances(tenant, content)
        reason, remedy = getattr(error, "summary", str(error)), getattr(error, "remedy", REMEDY)
        await self._record(
            tenant, content, Lacking(reason=reason, remedy=remedy, instances=count, waiting=waiting, since=now), now
        )
        logger.warning(
            "%s live instance(s) of '%s' version %s are left to other nodes: %s", count, definition_id, version, error
        )

    async def _record_obstacle(self, item: Obstacle, now: datetime) -> None:
        """Written again when more instances wait for it; `since` stays."""
        known = self._recorded.get((item.tenant, item.name))
        if known is not None and known.instances == len(item.instances):
            return
        lacking = Lacking(
            reason=item.reason,
            remedy=item.remedy or REMEDY,
            queue=item.queue,
            instances=len(item.instances),
            waiting=tuple(sorted(item.instances)[:WAITING_SHOWN]),
            since=now if known is None else known.since,
        )
        await self._record(item.tenant, item.name, lacking, now)

    async def _record(self, tenant: str, name: str, lacking: Lacking, now: datetime) -> None:
        row = RecordRow(
            tenant=tenant,
            kind=LACKING,
            id=self._record_id(name),
            owner=name,
            state=str(self._membership.owner.boot),
            created=now,
            updated=now,
            payload=msgspec.json.encode(lacking),
        )
        # A record of an earlier boot counts from the start of that boot; replace it.
        await self._store.delete_record(tenant, LACKING, row.id)
        await self._store.put_record(row)
        self._recorded[tenant, name] = lacking

    def _record_id(self, name: str) -> str:
        return f"{name}@{self._membership.name}"

    # -- incidents -----------------------------------------------------------------------------------------------------

    async def _open_incident(self, tenant: str, name: str, lacking: Lacking, now: datetime) -> None:
        if await self._store.get_record(tenant, MISSING, name) is not None:
            return
        _, definition_id, version = await self._instances(tenant, content_of(name))
        missing = incident(name, lacking, definition_id, version)
        row = RecordRow(
            tenant=tenant,
            kind=MISSING,
            id=name,
            owner=missing.definition_id,
            state="open",
            created=now,
            updated=now,
            payload=msgspec.json.encode(missing),
        )
        if await self._store.put_record(row):  # Of several nodes that detect it at once, one writes the record.
            logger.error(
                "no live node can run version %s of '%s' (%s instances wait, for example %s): %s %s",
                missing.version,
                missing.definition_id,
                missing.instances,
                ", ".join(missing.waiting) or "none",
                missing.reason,
                missing.remedy,
            )

    async def _instances(self, tenant: str, content: str) -> tuple[tuple[str, ...], str, int]:
        """Some live instances of the content, with its definition and version."""
        chosen = InstanceFilter(contents=(content,), statuses=_LIVE)
        page = await self._store.search(InstanceQuery(tenant=tenant, filter=chosen, limit=WAITING_SHOWN))
        if not page.items:
            return (), content, 0
        return tuple(item.id for item in page.items), page.items[0].definition_id, page.items[0].definition_version
