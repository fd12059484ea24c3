"""Code that stored definitions refer to: which node lacks what, and what happens where nobody has it (rule H10).

A node looks through the contents of live instances when it begins to work and every minute after. What it cannot compile is
left to others, and it writes down that it lacks it. When every live node has written so for five minutes, that version gets
one incident with the remedy; its instances stay as they are. A node that can run it ends the incident.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from holdfast.errors import HoldfastError
from holdfast.model.cluster import NodeState
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.ports import Store
from holdfast.runtime.service import Rounds

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

LACKING = "lacking-code"
"""Records of nodes: this one cannot run that content; `<content>@<node>`."""
MISSING = "missing-code"
"""Records of versions that no live node can run: the incidents; `<content>`."""

PATIENCE = timedelta(minutes=5)
EVERY = timedelta(minutes=1)
REMEDY = "Deploy the module again, keep the old name as an alias (@activity(aliases=[…])), or migrate the instances."
_LOOK_MAX = 1_000


class MissingCode(Struct, frozen=True, kw_only=True):
    """The incident of a version whose code no live node has."""

    content: str
    definition_id: str
    version: int
    since: datetime
    instances: int
    """How many were waiting when it was noticed; they stay suspended."""
    reason: str
    remedy: str = REMEDY


async def missing_code(store: Store, tenant: str) -> list[MissingCode]:
    """The incidents of versions that no live node can run, the latest first."""
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=MISSING, limit=_LOOK_MAX))
    return [msgspec.json.decode(row.payload, type=MissingCode) for row in rows]


async def lacking_code(store: Store, tenant: str) -> dict[str, tuple[datetime, str]]:
    """Contents that no live node can run: since when, and why."""
    now = await store.now()
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=LACKING, limit=_LOOK_MAX))
    alive = {
        (row.id, str(row.boot)) for row in await store.list_nodes() if row.alive_at(now) and row.state is NodeState.LIVE
    }
    found: dict[str, tuple[datetime, str]] = {}
    for content in {row.owner for row in rows}:
        told = {(row.id.partition("@")[2], row.state): row for row in rows if row.owner == content}
        if alive and alive <= told.keys():
            latest = max((told[node] for node in alive), key=lambda row: row.created)
            found[str(content)] = (latest.created, latest.payload.decode())
    return found


class References:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._rounds = Rounds(
            "references",
            self.check,
            lambda: EVERY,
            "the code of live instances could not be looked through",
            node.outage,
        )
        self._told: set[str] = set()
        """Contents whose `lacking` record of this node is written."""
        self._able: set[str] = set()
        """Contents that this process can run: its code does not go away."""

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def list(self) -> list[MissingCode]:
        """Versions that nobody can run, the latest first."""
        return await missing_code(self._node.store, self._node.tenant)

    async def check(self) -> None:
        """Try everything that live instances need; write down what is lacking, and notice what nobody has."""
        node = self._node
        now = await node.store.now()
        live = {
            content: count
            for (tenant, content), count in (await node.store.live_contents()).items()
            if tenant == node.tenant
        }
        reasons: dict[str, str] = {}
        self._able &= live.keys()
        for content in live.keys() - self._able:
            reason = await self._try(content)
            if reason is None:
                await self._have(content)
                self._able.add(content)
            else:
                reasons[content] = reason
                await self._lack(content, reason, live[content], now)
        for content in self._told - live.keys():
            await self._have(content)
        nowhere = await lacking_code(node.store, node.tenant) if reasons else {}
        for content in reasons.keys() & nowhere.keys():
            since, _ = nowhere[content]
            if now - since >= PATIENCE:
                await self._notice(content, reasons[content], since, live[content], now)

    async def _try(self, content: str) -> str | None:
        """Why it cannot be run here; None if it can."""
        pins = self._node.pins
        await asyncio.sleep(0)  # Compiling takes a while, and others want the loop too.
        try:
            await pins.plan(content)
        except HoldfastError as error:
            return str(error)
        pins.lacking.discard(content)
        return None

    async def _have(self, content: str) -> None:
        node = self._node
        self._told.discard(content)
        await node.store.delete_record(node.tenant, LACKING, self._name(content))
        if await node.store.delete_record(node.tenant, MISSING, content):
            logger.warning("content %s can be run again: node %s has its code", content, node.name)

    async def _lack(self, content: str, reason: str, count: int, now: datetime) -> None:
        if content in self._told:
            return
        node = self._node
        row = RecordRow(
            tenant=node.tenant,
            kind=LACKING,
            id=self._name(content),
            owner=content,
            state=str(node.owner.boot),
            created=now,
            updated=now,
            payload=reason.encode(),
        )
        # A row of an earlier life says since when that life lacked it; this one begins to count anew.
        await node.store.delete_record(node.tenant, LACKING, row.id)
        await node.store.put_record(row)
        self._told.add(content)
        definition_id, version = await self._label(content)
        logger.warning(
            "%s live instance(s) of '%s' version %s are left to other nodes: %s", count, definition_id, version, reason
        )

    def _name(self, content: str) -> str:
        return f"{content}@{self._node.name}"

    async def _notice(self, content: str, reason: str, since: datetime, count: int, now: datetime) -> None:
        node = self._node
        if await node.store.get_record(node.tenant, MISSING, content) is not None:
            return
        label = await self._label(content)
        missing = MissingCode(
            content=content,
            definition_id=label[0],
            version=label[1],
            since=since,
            instances=count,
            reason=reason,
        )
        row = RecordRow(
            tenant=node.tenant,
            kind=MISSING,
            id=content,
            owner=missing.definition_id,
            state="open",
            created=now,
            updated=now,
            payload=msgspec.json.encode(missing),
        )
        if await node.store.put_record(row):  # Several nodes notice at once: one of them writes it.
            logger.error(
                "no live node can run version %s of '%s' (%s instances wait): %s %s",
                missing.version,
                missing.definition_id,
                count,
                reason,
                missing.remedy,
            )

    async def _label(self, content: str) -> tuple[str, int]:
        """Definition and version of some live instance of the content."""
        from holdfast.model.listing import InstanceFilter, InstanceQuery

        page = await self._node.store.search(
            InstanceQuery(tenant=self._node.tenant, filter=InstanceFilter(contents=(content,)), limit=1)
        )
        return (page.items[0].definition_id, page.items[0].definition_version) if page.items else (content, 0)
