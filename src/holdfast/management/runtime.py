"""The runtime that applications, the server and the command line hold: the facade with definitions, schedules, tasks, nodes and
operator actions of its tenant.
"""

from __future__ import annotations

from functools import cached_property

from holdfast.management.definitions.engine import Engine
from holdfast.management.definitions.versions import Definitions
from holdfast.management.instances.alterations import Alterations
from holdfast.management.instances.client import InstanceClient
from holdfast.management.instances.fork import fork
from holdfast.management.instances.history import InstanceHistory, Moment
from holdfast.management.instances.operators import Operators
from holdfast.management.nodes import Nodes
from holdfast.management.schedules import Schedules
from holdfast.management.tasks import Tasks
from holdfast.management.triggers import Triggers
from holdfast.runtime.facade import MakeDispatcher, Runtime
from holdfast.runtime.parts import RuntimeParts
from holdfast.runtime.result import RunResult


class ManagedRuntime(Runtime):
    def __init__(
        self,
        parts: RuntimeParts,
        tenant: str,
        engine: Engine,
        *,
        make_dispatcher: MakeDispatcher | None = None,
        deployment: str = "",
    ) -> None:
        super().__init__(parts, tenant, engine.plan, make_dispatcher=make_dispatcher)
        self.engine = engine
        self._deployment = deployment

    # -- life ----------------------------------------------------------------------------------------------------------

    def take_work(self) -> None:
        """Take work of the queues from now on, and follow the definitions that are published as activities."""
        super().take_work()
        self.definitions.as_activities.start()

    async def __aexit__(self, *error: object) -> None:
        await self.definitions.as_activities.stop()
        await super().__aexit__(*error)

    def of_tenant(self, tenant: str) -> ManagedRuntime:
        """The view of another tenant that the same node serves. It ends with the node."""
        return ManagedRuntime(
            self._parts, tenant, self.engine, make_dispatcher=self._make_dispatcher, deployment=self._deployment
        )

    # -- parts ---------------------------------------------------------------------------------------------------------

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(self, self.engine, self._deployment)

    @cached_property
    def triggers(self) -> Triggers:
        return Triggers(self.store, self.tenant)

    @cached_property
    def schedules(self) -> Schedules:
        return Schedules(self)

    @cached_property
    def nodes(self) -> Nodes:
        return Nodes(self)

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks(self)

    @cached_property
    def alterations(self) -> Alterations:
        return Alterations(self)

    @cached_property
    def operators(self) -> Operators:
        return Operators(self)

    @cached_property
    def history(self) -> InstanceHistory:
        return InstanceHistory(self.store, self.tenant)

    # -- instances -----------------------------------------------------------------------------------------------------

    def client(self, instance_id: str) -> InstanceClient:
        """The client of one instance."""
        return InstanceClient(self, instance_id)

    async def fork(
        self,
        instance_id: str,
        *,
        version: int | None = None,
        new_id: str | None = None,
        who: str,
        why: str | None = None,
    ) -> str:
        """Copy an instance from its current state, or from an earlier version whose state is stored (`history = snapshots`);
        returns the id of the copy (rule M19)."""
        return await fork(self, instance_id, version=version, new_id=new_id, who=who, why=why)

    async def moments(self, instance_id: str) -> list[Moment]:
        """Versions whose state is stored, oldest first: all of them with `history = snapshots`."""
        return await self.history.moments(instance_id)

    async def read_at(self, instance_id: str, version: int) -> RunResult:
        """The instance as the commit of that version left it. Raises `StateNotKept`."""
        stored = await self.history.snapshot(instance_id, version)
        plan = await self.plans.plan(stored.content)
        return RunResult(self.reader.decode_state(stored.state, plan, stored.values), [], {})
