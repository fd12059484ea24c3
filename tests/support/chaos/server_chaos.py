"""Chaos test of the server: `holdfast serve` is killed under load and restarted, and every acknowledged request is done once.

Customers start workflows over REST with idempotency keys, pay by event or by resume, and buy tickets over HTTP; a clerk completes
the human tasks. A request without an answer is sent again with the same key. Afterwards the store, the ledger and the answers
that the customers received must agree.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TypeVar

import aiohttp
from msgspec import Struct

from holdfast.client.client import Client
from holdfast.errors import RequestRefused, ServerUnavailable
from tests.support.chaos import server_workflows as work
from tests.support.chaos.cluster_workflows import LEDGER
from tests.support.chaos.contention import ChaosReport, Crash
from tests.support.chaos.server_report import compared
from tests.support.server_process import PASSWORD, ServerProcess

CUSTOMERS = 12
"""At one time."""
PATIENCE = 180.0
"""Seconds within which a customer must get an answer, and all instances must end."""
PAUSE = 0.05
_BUSY = (503, 504)
T = TypeVar("T")


class Heard(Struct, kw_only=True):
    """What customers were told, by the number of the customer."""

    starts: dict[int, set[str]] = {}
    """The instances that a key was answered with."""
    tickets: dict[int, set[str]] = {}
    paid: dict[str, str] = {}
    """The token that an instance was paid with."""
    packed: dict[str, str] = {}
    """The answer that its task was completed with."""


async def server_chaos(
    url: str,
    *,
    kills: int,
    customers: int,
    crash_database: Crash | None = None,
    every: float = 2.0,
) -> ChaosReport:
    """Kill every so many seconds while at least so many customers are served; crash the database once, half-way."""
    with TemporaryDirectory() as folder:
        environment = {LEDGER: folder, "HOLDFAST_NODE_ALIVE": "2s", "HOLDFAST_NODE_SWEEP": "500ms"}
        module = work.__name__
        server = ServerProcess(url, [f"{module}:checkout", f"{module}:ticket"], environment)
        try:
            await server.start()
            heard = Heard()
            async with Client(server.url) as client, aiohttp.ClientSession() as session:
                await client.sign_in("admin", PASSWORD)
                market = _Market(client, session, server.url, heard, customers)
                try:
                    crashes = await _killed(server, market, kills, every, crash_database)
                    await market.served()
                finally:
                    await market.close()
            if await server.stop(signal.SIGTERM):
                raise AssertionError("the server did not end well when it was asked to")
        finally:
            await server.kill()
        return await compared(url, Path(folder), heard, kills, crashes)


async def _killed(
    server: ServerProcess, market: _Market, kills: int, every: float, crash_database: Crash | None
) -> int:
    """The server's lives and deaths; how often the database crashed."""
    crashes = 0
    market.open()
    for number in range(kills):
        await asyncio.sleep(every)
        if crash_database is not None and number == kills // 2:
            await crash_database()  # While the server lives: it must find it again.
            crashes += 1
            await asyncio.sleep(every)
        market.check()
        await server.kill()
        await server.start()
    market.is_closing = True
    return crashes


class _Market:
    """Customers and a clerk."""

    def __init__(self, client: Client, session: aiohttp.ClientSession, url: str, heard: Heard, customers: int) -> None:
        self._client = client
        self._session = session
        self._url = url
        self._heard = heard
        self._customers = customers
        self._numbers = count()
        self._next = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._clerk: asyncio.Task[None] | None = None
        self.is_closing = False

    def open(self) -> None:
        self._tasks = [asyncio.create_task(self._shop()) for _ in range(CUSTOMERS)]
        self._clerk = asyncio.create_task(self._pack())

    def check(self) -> None:
        """Raises the first error of a customer."""
        for task in (*self._tasks, self._clerk):
            if task is not None and task.done() and (error := task.exception()) is not None:
                raise error

    async def close(self) -> None:
        tasks = [task for task in (*self._tasks, self._clerk) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def served(self) -> None:
        """Everybody was served, and everything has ended."""
        await asyncio.gather(*self._tasks)
        until = monotonic() + PATIENCE
        open_ones = ["pending", "running", "suspended"]
        while left := (await self._patiently(lambda: self._client.instances.list(status=open_ones, limit=5))).items:
            self.check()
            if monotonic() > until:
                told = [(item.id, (await self._client.instances.get(item.id)).waiting_for) for item in left]
                raise AssertionError(f"instances do not end: {told}")
            await asyncio.sleep(PAUSE)

    async def _shop(self) -> None:
        while not self.is_closing or self._next < self._customers:
            self._next = number = next(self._numbers)
            await (self._buy_ticket(number) if number % 3 == 2 else self._check_out(number))

    async def _check_out(self, number: int) -> None:
        client, heard, key = self._client, self._heard, f"customer-{number}"

        async def start() -> str:
            answer = await client.definitions.dispatch(work.checkout.definition.id, idempotency_key=key)
            return answer.instance_ids[0]

        name = await self._patiently(start)
        heard.starts[number] = {name, await self._patiently(start)}
        heard.paid[name] = token = f"token-{number}"
        if number % 2:
            await self._patiently(
                lambda: client.send_event("paid", token, instance_id=name, idempotency_key=f"pay-{number}")
            )
        else:
            await self._until_waiting(name)
            await self._patiently(lambda: client.instances.resume(name, None, token, idempotency_key=f"pay-{number}"))

    async def _until_waiting(self, name: str) -> None:
        while True:
            found = await self._patiently(lambda: self._client.instances.get(name))
            if any(mark.name == "Event" for mark in found.state.bookmarks):
                return
            await asyncio.sleep(PAUSE)

    async def _buy_ticket(self, number: int) -> None:
        async def buy() -> str:
            request = self._session.post(
                f"{self._url}/workflows/{work.ROUTE}",
                json={"number": number},
                headers={"Idempotency-Key": f"ticket-{number}"},
            )
            try:
                async with request as answer:
                    if answer.status in _BUSY:
                        raise ServerUnavailable(self._url, f"busy: {await answer.text()}")
                    body = await answer.text()
                    assert answer.status in (200, 202), (answer.status, body)
                    return str(answer.headers["X-Workflow-Instance-Id"])
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                raise ServerUnavailable(self._url, repr(error)) from error

        self._heard.tickets[number] = {await self._patiently(buy), await self._patiently(buy)}

    async def _pack(self) -> None:
        """Complete every open task. One that was completed without our hearing of it is refused the second time."""
        while True:
            page = await self._patiently(lambda: self._client.tasks.list(state="open", limit=50))
            for item in page.items:
                await self._complete(item.id, item.instance_id)
            await asyncio.sleep(PAUSE)

    async def _complete(self, task: str, name: str) -> None:
        self._heard.packed[name] = answer = f"packed {name}"
        try:
            await self._patiently(lambda: self._client.tasks.complete(task, answer))
        except RequestRefused as refused:
            if refused.status not in (404, 409):
                raise

    @staticmethod
    async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
        """Again and again until there is an answer: asking twice is safe."""
        until = monotonic() + PATIENCE
        while True:
            try:
                return await ask()
            except ServerUnavailable:
                if monotonic() > until:
                    raise
            except RequestRefused as refused:
                if refused.status not in _BUSY or monotonic() > until:
                    raise
            await asyncio.sleep(PAUSE)
