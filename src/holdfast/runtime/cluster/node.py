"""The node: this process as a member of the cluster. It starts, drains and stops its components in order."""

from __future__ import annotations

import asyncio
import os
import socket
from datetime import timedelta

from holdfast.errors import StoreError
from holdfast.model.cluster import NodeState
from holdfast.model.node_details import NodeDetails
from holdfast.model.work import NO_OWNER
from holdfast.runtime.clock import follow_store
from holdfast.runtime.cluster.heartbeat import Heartbeat
from holdfast.runtime.cluster.neighbours import neighbour_died
from holdfast.runtime.cluster.options import NodeEnvironment, NodeOptions
from holdfast.runtime.cluster.pulse import NodePulse
from holdfast.runtime.cluster.singleton_tasks import SingletonTasks
from holdfast.runtime.cluster.wiring import Components
from holdfast.runtime.effects.cancel_watch import CancelWatch
from holdfast.runtime.outbox.relay import Relay
from holdfast.runtime.parts import RuntimeParts
from holdfast.runtime.plans.missing_code_watch import MissingCodeWatch

DRAIN_CHECK_SECONDS = 0.05
"""Pause between two checks whether a draining node is idle."""


class Node:
    def __init__(self, env: NodeEnvironment, options: NodeOptions) -> None:
        parts = self.components = Components(env, options)
        self._options = options
        store, membership, log = parts.store, parts.membership, parts.log
        self.heartbeat = Heartbeat(
            store, parts.clock, membership, parts.liveness, parts.running, log, second_handle=env.second_handle
        )
        self.cancel_watch = CancelWatch(store, membership, parts.running, log)
        self.missing_code = MissingCodeWatch(store, options.tenants, membership, parts.plans, parts.reader.live, log)
        self.singletons = SingletonTasks(
            store, options.tenants[0], membership, parts.intake, log, options.singleton_tasks
        )
        self.relay = Relay(store, env.outlets, options.tenants, log)
        self.pulse = NodePulse(
            store,
            membership,
            parts.watch,
            log,
            lambda: min(options.sweep_every, parts.liveness.time_to_live / 3),
            on_pulse=(
                lambda pulse: parts.plans.saw_epoch(pulse.epoch),
                parts.scheduler.pulsed,
                parts.reaper.pulsed,
                parts.router.pulsed,
                self.relay.pulsed,
            ),
            on_change=(parts.scheduler.changed, self.relay.changed),
        )
        parts.scheduler.ask_pulse = self.pulse.ask
        self._is_running = False

    @property
    def parts(self) -> RuntimeParts:
        """The collaborators of a facade on this node."""
        found = self.components
        return RuntimeParts(
            life=self,
            **{name: getattr(found, name) for name in RuntimeParts.__struct_fields__ if name != "life"},
        )

    async def start(self) -> None:
        """Register in the cluster and accept jobs; `take_work` serves queues too."""
        parts, options = self.components, self._options
        details = NodeDetails(
            host=socket.gethostname(),
            pid=os.getpid(),
            tenant=options.tenants[0],
            tenants=options.tenants if len(options.tenants) > 1 else (),
            queues=options.queues if options.takes_work else (),
        )
        registration = await parts.store.register_node(
            options.name, time_to_live=parts.liveness.time_to_live, details=details.encoded()
        )
        await follow_store(parts.clock, parts.store)
        parts.membership.join(registration, parts.clock.now_ns)
        if registration.predecessor_died or neighbour_died(
            await parts.store.list_nodes(), details, await parts.store.now()
        ):
            parts.intake.start_quarantine()
        parts.lanes.start()
        self.heartbeat.start()
        self.cancel_watch.start()
        self._is_running = True

    def take_work(self) -> None:
        """Take work of the queues from now on, take over from dead nodes, and deliver the outbox."""
        parts = self.components
        parts.poller.start()
        parts.reaper.start()
        parts.router.start()
        parts.scheduler.start()
        self.missing_code.start()
        parts.steps.start()
        self.singletons.start()
        self.relay.start()
        self.pulse.start()

    async def drain(self, limit: timedelta) -> bool:
        """Take no new work and wait until the work in hand has ended; False if the limit passed first."""
        parts = self.components
        parts.intake.paused = True
        parts.liveness.state = NodeState.DRAINING
        await parts.steps.stop_taking()
        try:
            async with asyncio.timeout(limit.total_seconds()):
                await self.heartbeat.beat()
                while True:
                    if not self.is_busy:
                        break
                    await asyncio.sleep(DRAIN_CHECK_SECONDS)
        except (TimeoutError, StoreError):
            pass
        return not self.is_busy

    @property
    def is_busy(self) -> bool:
        parts = self.components
        return bool(len(parts.running) or parts.in_hand or parts.poller.in_hand or parts.lanes.busy)

    async def stop(self) -> None:
        """Finish the current batches, cancel running effects and give them back, and leave the cluster."""
        if not self._is_running:
            return
        self._is_running = False
        parts = self.components
        await self.pulse.stop()
        await self.relay.stop()
        await self.singletons.stop()
        await parts.steps.stop()
        await parts.scheduler.stop()
        await self.cancel_watch.stop()
        await self.missing_code.stop()
        await parts.poller.stop()
        await parts.reaper.stop()
        await parts.router.stop()
        await parts.suspended.stop(self._options.cancel_grace.total_seconds())
        await parts.lanes.stop(self._options.cancel_grace.total_seconds())
        parts.conflicts.stop()
        parts.lanes.refuse_waiting()
        unfinished = await parts.running.stop()
        await self.heartbeat.stop()
        await parts.spent.wait()
        try:
            for key, ref in unfinished:
                given_back = await parts.store.own_effect(key.tenant, key.id, ref, NO_OWNER)
                if given_back is not None:
                    await parts.steps.give_back(given_back)
            await parts.store.leave(parts.membership.owner)
        except StoreError:
            parts.log.warning("node %s could not leave the cluster", parts.membership.name)
