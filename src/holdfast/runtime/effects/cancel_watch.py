"""Learns soon of effects that run here and are not wanted any more (rule M1: by hint, and at each heartbeat).

A cancel, a terminate or a lost race on another node is a commit: it drops the effect's row and moves the instance's version. So
this node, while effects of some length run here, listens for changes of the store, and then compares the versions of their
instances with those it saw. It asks for effect rows only where something moved, at most every so often, and never for effects
that end within that time. A hint that is lost is made up for by the heartbeat.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRow
from holdfast.runtime.effects.running import Attempts
from holdfast.runtime.service import Rounds

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

APART = timedelta(milliseconds=100)
"""Between two looks; an effect that ends sooner is never looked for."""
PATIENCE = timedelta(seconds=1)
"""How long a hint is waited for."""
ONE_BY_ONE = 8
"""Instances that are asked for by themselves; more, and all that this node owns is read at once."""


class Following:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._rounds = Rounds(
            "following", self._round, lambda: APART, "effects that run here could not be followed", node.outage
        )
        self._known: Attempts = {}
        """What ran at the last look: what is new since then may end before the next."""
        self._seen: dict[str, int] = {}
        """Versions of the instances that are followed."""
        self._change = 0
        self._complete = True
        """Everything that ran at the last look was compared."""

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def _round(self) -> None:
        if not len(self._node.effects):
            return
        if self._complete:
            self._change = await self._node.store.wait_for_change(self._change, PATIENCE)
        await self.look()

    async def look(self) -> None:
        """Compare with what is stored, and end what is gone."""
        node, before = self._node, self._known
        now = self._known = node.effects.attempts()
        asked = {key: attempt for key, attempt in now.items() if before.get(key) == attempt}
        self._complete = len(asked) == len(now)
        keys = [InstanceKey(node.tenant, name) for name in {instance_id for instance_id, _ in asked}]
        versions = await node.store.versions_of(keys) if keys else {}
        found = {key.id: versions.get(key, 0) for key in keys}
        moved = {name for name, version in found.items() if self._seen.get(name) != version}
        self._seen = found
        if moved:
            owned = await self._owned(moved)
            node.effects.keep_only({key: attempt for key, attempt in asked.items() if key[0] in moved}, owned)

    async def _owned(self, names: set[str]) -> list[EffectRow]:
        node = self._node
        if len(names) > ONE_BY_ONE:
            return list(await node.store.effects_owned(node.owner))
        found = [await node.store.effects_of(node.tenant, name) for name in names]
        return [row for rows in found for row in rows if row.owner == node.owner]
