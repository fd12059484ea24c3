"""A repeated idempotency key of an event is answered `existing`, whatever became of the instance meanwhile (rule M4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from holdfast import Holdfast, wait_for, workflow
from holdfast.client import Client
from holdfast.errors import PayloadRefused
from tests.integration.server.conftest import Caller, Serve

_TENANTS = count()

Send = Callable[[int], Awaitable[bool]]
"""Sends the event with its idempotency key and a payload; returns whether it existed."""


@workflow
async def reads(name: str) -> Any:
    return await wait_for("message")


@workflow
async def reads_keyed(name: str) -> Any:
    return await wait_for("message", key=name)


@dataclass
class Approval:
    approved: bool


class Later:
    @dataclass
    class Approval:
        reason: str


@workflow
async def reads_two_shapes(name: str) -> str:
    await wait_for(Approval)
    later = await wait_for(Later.Approval)
    return later.reason


WORKFLOWS = (reads, reads_keyed, reads_two_shapes)
LIMIT = timedelta(seconds=20)
ADDRESSES = ("instance_id", "correlation_id", "key")
WAYS = ("app", "rest", "client", "handle")


@pytest.fixture
async def api(serve: Serve, store_url: str) -> Caller:
    tenant = f"events{next(_TENANTS)}"
    return await serve(Holdfast(store=store_url, tenant=tenant, workflows=WORKFLOWS, entry_points=False))


def sender(api: Caller, client: Client, way: str, address: dict[str, Any]) -> Send:
    async def by_app(number: int) -> bool:
        return (await api.engine.send("message", number, idempotency_key="k", **address)).existing

    async def by_rest(number: int) -> bool:
        headers = {"Idempotency-Key": "k"}
        answer = await api.post("/api/events/message", {"payload": number, **address}, expect=202, headers=headers)
        return bool(answer["existing"])

    async def by_client(number: int) -> bool:
        return (await client.send_event("message", number, idempotency_key="k", **address)).existing

    async def by_handle(number: int) -> bool:
        handle = api.engine.handle(reads, address["instance_id"])
        return (await handle.send("message", number, idempotency_key="k")).existing

    return {"app": by_app, "rest": by_rest, "client": by_client, "handle": by_handle}[way]


@pytest.mark.parametrize(
    ("way", "kind"),
    [(way, kind) for way in WAYS for kind in ADDRESSES if way != "handle" or kind == "instance_id"],
)
async def test_after_the_instance_has_ended_and_after_it_was_deleted(api: Caller, way: str, kind: str) -> None:
    flow = reads_keyed if kind == "key" else reads
    handle = await api.engine.start(flow.options(correlation_id="c-1"), "k-1")
    address = {kind: {"instance_id": handle.id, "correlation_id": "c-1", "key": "k-1"}[kind]}
    async with Client(api.url) as client:
        send = sender(api, client, way, address)

        assert not await send(7)
        async with asyncio.timeout(20):
            assert await handle.result() == 7
        assert await send(7)
        await api.delete(f"/api/instances/{handle.id}")
        assert await send(7)

    assert (await api.engine.runtime.store.stats(api.engine.runtime.tenant)).inbox == 0


async def test_while_the_instance_waits_for_another_shape(api: Caller) -> None:
    handle = await api.engine.start(reads_two_shapes, "k-1")
    approval = Approval(approved=True)

    first = await api.engine.send(approval, instance_id=handle.id, idempotency_key="k")
    await api.engine.runtime.wait_burst(handle.id, LIMIT, above=1)
    again = await api.engine.send(approval, instance_id=handle.id, idempotency_key="k")

    assert (first.existing, again.existing) == (False, True)
    with pytest.raises(PayloadRefused):
        await api.engine.send(approval, instance_id=handle.id, idempotency_key="other")
    await api.engine.send(Later.Approval("late"), instance_id=handle.id)
    async with asyncio.timeout(20):
        assert await handle.result() == "late"
