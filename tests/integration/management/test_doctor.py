"""The doctor names queues and tenants with overdue work that no live node serves, on each store."""

from __future__ import annotations

import uuid
from datetime import timedelta

from holdfast import Holdfast
from holdfast.management.doctor import check_store
from holdfast.management.doctor.findings import Level
from holdfast.model.commit import Commit
from holdfast.model.work import WorkRow, queue_of


async def test_the_doctor_names_unserved_queues_and_tenants(store_url: str) -> None:
    engine = Holdfast(entry_points=False)
    store, served, unserved = engine.store(store_url), uuid.uuid4().hex, uuid.uuid4().hex
    await store.open()
    due = await store.now() - timedelta(minutes=5)
    rows = [
        WorkRow(tenant=tenant, id=uuid.uuid4().hex, kind="resume", queue=queue_of(tenant, queue), created=due, due=due)
        for tenant, queue in ((served, "default"), (served, "gpu"), (unserved, "default"))
    ]
    await store.enqueue(rows)

    async with engine.runtime_on(store, tenant=served, node=served):  # Registered for `default`.
        checked = store if store_url == "memory://" else engine.store(store_url)
        found = {item.remedy: item for item in await check_store(checked, engine.clock) if item.subject == "queues"}
    await store.open()
    await store.commit([Commit(tenant=row.tenant, burst_id=row.id, work_consumed=(row.id,)) for row in rows])
    await store.close()
    engine.close()

    queue = found[f"holdfast worker --queues gpu --tenants {served}"]
    tenant = found[f"holdfast worker --queues default --tenants {unserved}"]
    assert (queue.level, tenant.level) == (Level.WRONG, Level.WRONG)
    assert (
        f"no live node serves the queue 'gpu' of tenant '{served}'; its oldest work has been due for" in queue.message
    )
    assert f"no live node serves the tenant '{unserved}'; its oldest work in the queue 'default'" in tenant.message
    assert f"holdfast worker --queues default --tenants {served}" not in found
