"""Plans of all tenants that this node serves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from holdfast.errors import WorkflowUnknown
from holdfast.execution.plan import Plan
from holdfast.model.catalog import Source, Which
from holdfast.model.definition import Definition
from holdfast.ports import DefinitionSource, Store
from holdfast.runtime.plans.obstacles import Obstacles
from holdfast.runtime.plans.plan_cache import PlanCache
from holdfast.runtime.plans.triggers import Workshop


class Plans:
    def __init__(
        self,
        store: Store,
        plan_of: Callable[[Definition], Plan],
        now: Callable[[], datetime],
        definitions: DefinitionSource | None = None,
        workshop: Workshop | None = None,
    ) -> None:
        """`definitions` are the definitions of this process; `workshop` evaluates the triggers of definitions."""
        self._store = store
        self._plan_of = plan_of
        self._now = now
        self._definitions = definitions
        self._workshop = workshop
        self._tenants: dict[str, PlanCache] = {}
        self.lacking: set[str] = set()
        """Names in the `content` of work rows that this process cannot run: content whose code is missing, and parked work.
        Other nodes may run it (rule H10). Whether a content compiles does not depend on the tenant."""
        self.obstacles = Obstacles(self.lacking)

    def of(self, tenant: str) -> PlanCache:
        found = self._tenants.get(tenant)
        if found is None:
            found = PlanCache(self._store, tenant, self._plan_of, self._now, self.lacking, self._workshop)
            self._tenants[tenant] = found
        return found

    def saw_epoch(self, epoch: int) -> None:
        """A read of the store returned this epoch of definitions."""
        for plans in self._tenants.values():
            plans.current.saw(epoch)

    async def find(self, tenant: str, reference: str) -> Plan:
        """The plan of a workflow by id or name: the published version if it came from code (rule M14), else a definition of
        this process, else one of the store."""
        plans = self.of(tenant)
        label = await plans.current.version(reference, Which.PUBLISHED)
        if label is not None and label.details.source is Source.CODE:
            return await plans.plan(label.content)
        known = self._definitions.find(reference) if self._definitions is not None else None
        definition = known or await plans.find(reference)
        if definition is None:
            raise WorkflowUnknown(
                f"There is no workflow '{reference}'. Import it into the store, or give it to Holdfast(definitions=[…])."
            )
        return self._plan_of(definition)
