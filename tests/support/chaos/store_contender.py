"""One worker of the chaos test of a store: commits to instances that other workers commit to as well, until it is killed.

Each burst advances everything of an instance by one: its counter, its only bookmark, its only timer, one outbox row. Every table
must therefore agree with the version afterwards. Acknowledged bursts are appended to a file, unbuffered: a burst in the file
that is not in the database was lost.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from holdfast.errors import StoreUnavailable
from holdfast.model.commit import Commit, Committed
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.ports import Store
from holdfast.testing.store_rows import FAR_OFF, bookmark, commit_of, instance, message, segment, work

TENANT = "chaos"
AT_ONCE = 24
"""Instances per batch: enough that two workers usually meet."""


def timer_id(instance_id: str, version: int) -> str:
    return f"{instance_id}.{version}"


def next_burst(row: InstanceRow | None, instance_id: str, burst_id: str) -> Commit:
    """The commit that moves an instance along by one version, or creates it."""
    version = 1 if row is None else row.version + 1
    counter = 0 if row is None else int(row.state)
    new = instance(instance_id, version, tenant=TENANT, burst_id=burst_id, state=b"%d" % (counter + 1))
    return commit_of(
        new,
        journal=segment(new),
        bookmarks_burned=() if row is None else (bookmark(TENANT, instance_id, version - 1).ref,),
        bookmarks_added=(bookmark(TENANT, instance_id, version),),
        work_consumed=() if row is None else (timer_id(instance_id, version - 1),),
        work_added=(work(TENANT, id=timer_id(instance_id, version), due=FAR_OFF, instance_id=instance_id),),
        outbox_added=(message(TENANT, id=timer_id(instance_id, version)),),
    )


def start_once(key: int, burst_id: str) -> Commit:
    """A start under an idempotency key that others use too, each with an instance id of its own."""
    guard = idempotency_key(operation="start", target="chaos", key=str(key))
    new = next_burst(None, f"start-{key}-{burst_id}", burst_id)
    return Commit(**{**{name: getattr(new, name) for name in new.__struct_fields__}, "guards_taken": (guard,)})


async def contend(store: Store, worker: str, instances: int, keys: int, acknowledged: str) -> dict[str, Any]:
    """Never returns: the test kills it. Two lanes, so that group commit has something to group."""
    with Path(acknowledged).open("ab", buffering=0) as file:  # noqa: ASYNC230 - the order on the disk is the point
        await asyncio.gather(*(_lane(store, f"{worker}-{lane}", instances, keys, file.write) for lane in range(2)))
    raise AssertionError("a lane ended")


async def _lane(store: Store, name: str, instances: int, keys: int, acknowledge: Any) -> None:
    number = 0
    while True:
        names = random.sample([f"i{index}" for index in range(instances)], min(AT_ONCE, instances))
        try:
            found = (await store.load([InstanceKey(TENANT, each) for each in names])).instances
            batch = [
                next_burst(found[InstanceKey(TENANT, each)], each, f"{name}-{number}-{place}")
                for place, each in enumerate(names)
            ]
            batch.append(start_once(random.randrange(keys), f"{name}-{number}-s"))
            outcomes = await store.commit(batch)
        except StoreUnavailable:
            await asyncio.sleep(0.05)  # the database is being restarted
            continue
        number += 1
        for commit, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Committed) and commit.instance is not None:
                acknowledge(b"%s %d\n" % (commit.instance.id.encode(), commit.instance.version))
