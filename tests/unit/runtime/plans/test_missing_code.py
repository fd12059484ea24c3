"""Missing code is recorded for each tenant, and readiness names the reason why a node takes no work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast.errors import DefinitionError
from holdfast.model.cluster import NodeState
from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.observability.readiness import why_unready
from holdfast.runtime.plans.missing_code import INCIDENT_AFTER, MissingCodeWatch, lacking_code, missing_code
from holdfast.testing import VirtualClock

LEASE = timedelta(hours=1)


class FakePlans:
    """Plans of a process that lacks the code of some contents."""

    def __init__(self, *lacking: str) -> None:
        self.lacking = set(lacking)
        self.gone = set(lacking)

    def of(self, tenant: str) -> FakePlans:
        return self

    async def plan(self, content: str) -> None:
        if content in self.gone:
            raise DefinitionError("The function 'price' is missing.")


async def test_an_incident_is_opened_for_the_tenant_and_closed_when_the_code_is_back() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    await store.open()
    membership, plans = Membership("a"), FakePlans("old")
    membership.join(await store.register_node("a", time_to_live=LEASE), clock.now_ns)
    for tenant, content in (("acme", "old"), ("globex", "new"), ("initech", "old")):
        row = InstanceRow("i1", 1, "b1", "suspended", content, "order", 1, clock.now(), clock.now(), tenant=tenant)
        await store.commit([Commit("b1", tenant=tenant, instance=row)])
    known: Any = plans
    watch = MissingCodeWatch(store, ("acme", "globex"), membership, known, OutageLog("a"))

    await watch.check()
    assert list(await lacking_code(store, "acme")) == ["old"]
    assert await missing_code(store, "acme") == []
    clock.advance(INCIDENT_AFTER)
    await watch.check()
    (missing,) = await missing_code(store, "acme")
    assert (missing.content, missing.definition_id, missing.instances) == ("old", "order", 1)
    assert await missing_code(store, "globex") == []
    assert await lacking_code(store, "initech") == {}

    plans.gone.clear()
    await watch.check()
    assert await missing_code(store, "acme") == []
    assert await lacking_code(store, "acme") == {}
    assert plans.lacking == set()
    await store.close()


async def test_a_node_is_ready_while_it_is_registered_and_live() -> None:
    store = MemoryStore()
    await store.open()
    membership, liveness = Membership("a"), Liveness(LEASE)
    assert await why_unready(store, [(membership, liveness)]) == [
        "This node is not registered, or its heartbeat is too old."
    ]
    membership.join(await store.register_node("a", time_to_live=LEASE), lambda: 0)
    assert await why_unready(store, [(membership, liveness)]) == []
    liveness.state = NodeState.DRAINING
    assert await why_unready(store, [(membership, liveness)]) == ["This node is draining: it takes no new work."]
    await store.close()
