"""Records of missing code: only nodes that take the work count, and records of earlier releases are read."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from holdfast.model.node_details import NodeDetails
from holdfast.model.record_rows import RecordRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans.missing_code import (
    LACKING,
    MISSING,
    Lacking,
    MissingCode,
    incident,
    lacking_code,
    missing_code,
    read_lacking,
)
from holdfast.testing import VirtualClock

LEASE = timedelta(hours=1)
NOW = VirtualClock().now()


@pytest.fixture
def store() -> MemoryStore:
    clock = VirtualClock(jump=False)
    return MemoryStore(now=clock.now)


async def register(store: MemoryStore, name: str, *queues: str, tenant: str = "") -> str:
    details = NodeDetails(tenant=tenant, queues=queues)
    registered = await store.register_node(name, time_to_live=LEASE, details=details.encoded())
    return str(registered.node.boot)


async def record(store: MemoryStore, node: str, boot: str, *, queue: str = "default", name: str = "c1") -> None:
    payload = msgspec.json.encode(Lacking(reason="'pack' is gone", queue=queue, since=NOW, instances=2))
    row = RecordRow(
        tenant="", kind=LACKING, id=f"{name}@{node}", owner=name, state=boot, created=NOW, updated=NOW, payload=payload
    )
    await store.put_record(row)


async def test_a_process_without_a_worker_hides_nothing(store: MemoryStore) -> None:
    await store.open()
    await register(store, "web")  # It may have the code, but it takes no work.
    boot = await register(store, "worker", "default")
    await record(store, "worker", boot)

    assert [item.instances for item in (await lacking_code(store, "")).values()] == [2]


@pytest.mark.parametrize(("queues", "tenant"), [(("pictures",), ""), (("default",), "acme")])
async def test_a_node_of_another_queue_or_tenant_hides_nothing(
    store: MemoryStore, queues: tuple[str, ...], tenant: str
) -> None:
    await store.open()
    await register(store, "other", *queues, tenant=tenant)
    boot = await register(store, "worker", "default", "pictures")
    await record(store, "worker", boot)

    assert list(await lacking_code(store, "")) == ["c1"]


async def test_another_worker_may_have_the_code(store: MemoryStore) -> None:
    await store.open()
    await register(store, "other", "default")
    boot = await register(store, "worker", "default", "pictures")
    await record(store, "worker", boot)
    await record(store, "worker", boot, queue="pictures", name="c2")

    assert list(await lacking_code(store, "")) == ["c2"]


async def test_a_record_of_an_earlier_process_does_not_count(store: MemoryStore) -> None:
    await store.open()
    boot = await register(store, "worker", "default")
    await record(store, "worker", boot)
    await register(store, "worker", "default")

    assert await lacking_code(store, "") == {}


async def test_records_of_earlier_releases_are_read(store: MemoryStore) -> None:
    await store.open()
    assert read_lacking(b"'pack' is gone", NOW) == Lacking(reason="'pack' is gone", since=NOW)
    old = {"content": "c1", "definition_id": "order", "version": 2, "since": NOW, "instances": 3, "reason": "gone"}
    await store.put_record(
        RecordRow(
            tenant="", kind=MISSING, id="c1", owner="order", state="open", created=NOW, updated=NOW,
            payload=msgspec.json.encode(old),
        )
    )  # fmt: skip

    (found,) = await missing_code(store, "")
    assert (found.content, found.name, found.waiting) == ("c1", "", ())


def test_an_incident_names_the_content_and_the_cause() -> None:
    made = incident("c1!ab", Lacking(reason="gone", remedy="put it back", since=NOW, waiting=("i1",)), "order", 2)

    assert isinstance(made, MissingCode)
    assert (made.content, made.name, made.waiting, made.remedy) == ("c1", "c1!ab", ("i1",), "put it back")
