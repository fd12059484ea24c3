"""Two servers on one SQLite file: both are asked the same under the same keys, each request is done once, all ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from holdfast.client.client import Client
from tests.support.chaos import server_workflows as work
from tests.support.chaos.cluster_workflows import LEDGER, Ledger
from tests.support.server_process import PASSWORD, ServerProcess

COUNT = 30
MODULE = work.__name__


@asynccontextmanager
async def served(store: str, ledger: Path) -> AsyncIterator[Client]:
    server = ServerProcess(store, [f"{MODULE}:checkout", f"{MODULE}:ticket"], {LEDGER: str(ledger)})
    try:
        await server.start()
        async with Client(server.url) as client:
            await client.sign_in("admin", PASSWORD)
            yield client
        assert await server.stop() == 0
    finally:
        await server.kill()


@pytest.mark.timeout(240)
async def test_two_servers_on_one_file(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'served.db'}"
    async with AsyncExitStack() as stack, asyncio.timeout(200):
        one, two = [await stack.enter_async_context(served(store, tmp_path / "ledger")) for _ in range(2)]

        async def start(client: Client, number: int) -> str:
            answer = await client.definitions.dispatch(work.checkout.definition.id, idempotency_key=f"k{number}")
            return answer.instance_ids[0]

        pairs = await asyncio.gather(*(start(client, number) for number in range(COUNT) for client in (one, two)))
        names = sorted(set(pairs))
        await asyncio.gather(
            *(
                client.send_event("paid", "t", instance_id=name, idempotency_key=name)
                for name in names
                for client in (one, two)
            )
        )
        while (await one.instances.list(status=["pending", "running", "suspended"], limit=1)).items:
            for task in (await two.tasks.list(state="open", limit=50)).items:
                await two.tasks.complete(task.id, "packed")

    assert len(names) == COUNT
    assert Ledger(tmp_path / "ledger").entries == {f"{name}.{what}" for name in names for what in work.OF_CHECKOUT}
    assert len(Ledger(tmp_path / "ledger").calls) == COUNT * len(work.OF_CHECKOUT)
