"""Live updates over real sockets: the state first, then every change in order, resumable, for many at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace
from starlette.websockets import WebSocket

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable
from holdfast.errors import HoldfastError, NotSignedIn, StoreUnavailable
from holdfast.identity import sessions
from holdfast.model.principal import LOCAL, ROLES, Principal
from holdfast.model.stored import InstanceKey
from holdfast.ports import RequestFacts
from holdfast.server.live import connection, messages
from tests.integration.server.conftest import Caller, Serve
from tests.support.node import node_of

ROUNDS = 6

counting = Workflow(
    Sequence(
        *(part for n in range(ROUNDS) for part in (Event(f"go{n}"), SetVariable("n", expr("n + 1")))),
    ),
    id="counting",
    variables={"n": 0},
)


class Follower:
    """A client of the protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def hear(self) -> Any:
        async with asyncio.timeout(20):
            while True:
                message = await self.socket.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    return message
                found = message.json()
                if found.get("op") != "ping":
                    return found

    async def until(self, ready: Callable[[Any], bool]) -> list[Any]:
        """All messages up to the first that is as wanted."""
        found = [await self.hear()]
        while not ready(found[-1]):
            found.append(await self.hear())
        return found


@asynccontextmanager
async def following(api: Caller, **headers: str) -> AsyncIterator[Follower]:
    async with api.session.ws_connect(f"{api.url}/api/live", headers=headers) as socket:
        yield Follower(socket)


@pytest.fixture
async def api(serve: Serve) -> Caller:
    return await serve(Holdfast(store="memory://", entry_points=False, workflows=[counting]))


async def started(api: Caller, **more: Any) -> str:
    answer = await api.engine.runtime.start(counting, **more)
    assert answer.result is not None
    return str(answer.result.instance_id)


async def go(api: Caller, identity: str, times: int = 1) -> None:
    for _ in range(times):
        await api.engine.runtime.resume(identity)


def n_of(message: Any) -> Any:
    return message["data"].get("state", {}).get("variables", {}).get("n")


def is_at(n: int, message: Any) -> bool:
    return bool(n_of(message) == n)


# -- an instance -------------------------------------------------------------------------------------------------------


async def test_the_state_comes_first_then_every_change_in_order(api: Caller) -> None:
    identity = await started(api)
    async with following(api) as client:
        await client.say(op="subscribe", id="s1", topic="instance", key=identity)
        first = await client.hear()
        heard = []
        for number in range(ROUNDS):
            await go(api, identity)
            heard += await client.until(partial(is_at, number + 1))

    assert (first["id"], first["kind"], n_of(first)) == ("s1", "state", 0)
    assert {message["kind"] for message in heard} == {"change"}
    versions = [first["version"], *(message["version"] for message in heard)]
    assert versions == list(range(versions[0], versions[0] + len(versions)))
    entries = [entry for message in heard for entry in message["data"]["entries"]]
    assert [entry["sequence"] for entry in entries] == list(
        range(entries[0]["sequence"], entries[0]["sequence"] + len(entries))
    )
    assert heard[-1]["data"]["instance"]["status"] == "finished"


async def test_a_lost_connection_is_resumed_without_a_gap(api: Caller) -> None:
    identity = await started(api)
    async with following(api) as client:
        await client.say(op="subscribe", id="s1", topic="instance", key=identity)
        seen = (await client.hear())["version"]
    await go(api, identity, 3)
    async with following(api) as client:
        await client.say(op="subscribe", id="s1", topic="instance", key=identity, after=seen)
        await go(api, identity)
        heard = await client.until(lambda message: n_of(message) == 4)

    assert [message["version"] for message in heard] == list(range(seen + 1, seen + 1 + len(heard)))
    assert {message["kind"] for message in heard} == {"change"}


async def test_who_is_far_behind_gets_the_state_instead_of_a_backlog(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "CHANGES_MAX", 2)
    identity = await started(api)
    seen = (await api.get(f"/api/instances/{identity}"))["position"]
    await go(api, identity, 4)
    async with following(api) as client:
        await client.say(op="subscribe", id="s1", topic="instance", key=identity, after=seen)
        message = await client.hear()

    assert (message["kind"], n_of(message)) == ("state", 4)


async def test_a_deleted_instance_and_one_that_is_not_there(api: Caller) -> None:
    identity = await started(api)
    await go(api, identity, ROUNDS)
    async with following(api) as client:
        await client.say(op="subscribe", id="s1", topic="instance", key=identity)
        await client.hear()
        await api.engine.runtime.store.delete_instances("", [identity])
        gone = await client.hear()
        await client.say(op="subscribe", id="s2", topic="instance", key="nobody")
        missing = await client.hear()

    assert gone["data"] == {"deleted": True}
    assert (missing["id"], missing["kind"], missing["code"]) == ("s2", "error", "instance.not_found")


async def test_several_subscriptions_of_one_client_and_the_end_of_one(api: Caller) -> None:
    one, two = await started(api), await started(api)
    async with following(api) as client:
        for name, key in (("a", one), ("b", two)):
            await client.say(op="subscribe", id=name, topic="instance", key=key)
            await client.hear()
        await client.say(op="unsubscribe", id="a")
        await client.say(op="ping")
        assert await client.hear() == {"op": "pong"}
        await go(api, one)
        await go(api, two)
        message = await client.hear()

    assert (message["id"], n_of(message)) == ("b", 1)


# -- a definition, a list ----------------------------------------------------------------------------------------------


async def test_a_definition(api: Caller) -> None:
    async with following(api) as client:
        await client.say(op="subscribe", id="d", topic="definition", key="counting")
        first = await client.hear()
        await api.engine.runtime.definitions.retract("counting")
        second = await client.hear()

    assert (first["kind"], first["data"]["published_version"]) == ("state", 1)
    assert (second["kind"], second["data"]["published_version"]) == ("change", None)
    assert second["version"] > first["version"]


async def test_the_list_of_instances(api: Caller) -> None:
    first = await started(api)
    async with following(api) as client:
        await client.say(op="subscribe", id="l", topic="instances", key="counting")
        state = await client.hear()
        second = await started(api)
        change = await client.hear()

    assert [item["id"] for item in state["data"]["items"]] == [first]
    assert state["data"]["counts"]["suspended"] == 1
    assert [item["id"] for item in change["data"]["items"]] == [second]
    assert (change["kind"], change["data"]["counts"]["suspended"]) == ("change", 2)


# -- who may -----------------------------------------------------------------------------------------------------------


async def signed_in(api: Caller, name: str, password: str) -> str:
    return str((await api.post("/api/auth/login", {"user": name, "password": password}))["access_token"])


async def test_a_token_is_needed_and_permissions_count(serve: Serve) -> None:
    engine = Holdfast(store="memory://", entry_points=False, workflows=[counting], admin_password="let me in please")
    api = await serve(engine, auth=True)
    identity = await started(api)
    accounts = api.app.backend.accounts
    await accounts.users.add("worker", "let me in please", roles=["worker"])
    admin, worker = [await signed_in(api, name, "let me in please") for name in ("admin", "worker")]
    subscribe = {"op": "subscribe", "id": "s", "topic": "instance", "key": identity}

    async with following(api) as client:
        await client.say(**subscribe)
        assert (await client.hear())["code"] == "access.not_signed_in"
        await client.say(op="auth", token=worker)
        await client.say(**subscribe)
        assert (await client.hear())["code"] == "access.denied"
        await client.say(op="auth", token=admin)
        await client.say(**subscribe)
        assert (await client.hear())["kind"] == "state"
        await client.say(op="auth", token="nonsense")
        assert (await client.hear()).data == 4401
    async with api.session.ws_connect(f"{api.url}/api/live?token={admin}") as socket:
        other = Follower(socket)
        await other.say(**subscribe)
        assert (await other.hear())["kind"] == "state"


async def test_pages_from_elsewhere_are_turned_away(api: Caller) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        async with following(api, Origin="https://elsewhere.example"):
            pass
    refused = await api.ask("GET", "/api/instances", headers={"Origin": "https://elsewhere.example"})
    assert refused.status == 401


NONSENSE = [
    *("{", "[]", '{"op": "dance"}', '{"op": 1}', '{"op": "subscribe", "after": "x"}'),
    *('{"op": "subscribe", "after": -1}', '{"op": "subscribe", "after": 99999999999999999999}'),
    f'{{"op": "{"語" * 200}"}}',
]


@pytest.mark.parametrize("nonsense", NONSENSE)
async def test_what_is_no_message_ends_the_connection(api: Caller, nonsense: str) -> None:
    async with following(api) as client:
        await client.socket.send_str(nonsense)
        assert (await client.hear()).data == 4400


@pytest.mark.parametrize("topic", ["instance", "definition", "instances"])
async def test_a_key_that_no_database_keeps_is_refused(api: Caller, topic: str) -> None:
    """One look is for all who watch: a key that breaks it would leave everybody without news."""
    async with following(api) as client:
        await client.say(op="subscribe", id="s", topic=topic, key="no\0body")
        assert (await client.hear())["code"] == "text.invalid"


async def test_sign_out_ends_the_stream_at_once(serve: Serve) -> None:
    engine = Holdfast(store="memory://", entry_points=False, workflows=[counting], admin_password="let me in please")
    api = await serve(engine, auth=True)
    tokens = [await api.post("/api/auth/login", {"user": "admin", "password": "let me in please"}) for _ in range(3)]
    headers = [{"Authorization": f"Bearer {found['access_token']}"} for found in tokens]
    async with following(api, **headers[0]) as first, following(api, **headers[1]) as second:
        for client in (first, second):
            await client.say(op="subscribe", id="s", topic="instances")
            assert (await client.hear())["kind"] == "state"

        await api.post("/api/auth/logout", headers=headers[0], expect=204)
        assert (await first.hear()).data == 4401
        await second.say(op="ping")
        assert (await second.hear())["op"] == "pong"
        await api.post("/api/auth/logout", {"everywhere": True}, headers=headers[2], expect=204)
        assert (await second.hear()).data == 4401


async def test_reuse_of_a_refresh_token_ends_its_access_tokens_at_once(serve: Serve, clock_step: Any) -> None:
    engine = Holdfast(store="memory://", entry_points=False, admin_password="let me in please")
    api = await serve(engine, auth=True)
    signed = await api.post("/api/auth/login", {"user": "admin", "password": "let me in please"})
    fresh = await api.post("/api/auth/refresh", {"refresh_token": signed["refresh_token"]})
    headers = {"Authorization": f"Bearer {fresh['access_token']}"}
    await api.get("/api/auth/me", headers=headers)
    clock_step(sessions.REUSE_GRACE)

    await api.post("/api/auth/refresh", {"refresh_token": signed["refresh_token"]}, expect=401)

    await api.get("/api/auth/me", headers=headers, expect=401)


@pytest.fixture
def clock_step(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The grace for two tabs ends at once."""

    def step(grace: timedelta) -> None:
        monkeypatch.setattr(sessions, "REUSE_GRACE", -grace)

    return step


@pytest.mark.parametrize("said", [[], [{"op": "ping"}], [{"op": "subscribe", "id": "s", "topic": "instances"}]])
async def test_a_connection_without_sign_in_is_closed(serve: Serve, said: list[dict[str, Any]]) -> None:
    engine = Holdfast(store="memory://", entry_points=False, live_sign_in_time=timedelta(milliseconds=100))
    api = await serve(engine, auth=True)

    async with following(api) as client:
        for message in said:
            await client.say(**message)
        heard = await client.hear()
        while isinstance(heard, dict):
            heard = await client.hear()

    assert heard.data == 4401


class Moody:
    """Says what the test has it say."""

    def __init__(self) -> None:
        self.moods: list[Principal | HoldfastError] = []
        self.now: Principal | HoldfastError = LOCAL

    async def authenticate(self, request: RequestFacts) -> Principal:
        if self.moods:
            self.now = self.moods.pop(0)
        if isinstance(self.now, HoldfastError):
            raise self.now
        return self.now


async def test_who_follows_is_looked_at_again_also_after_an_outage(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PING_INTERVAL", timedelta(milliseconds=10))
    moody = Moody()
    engine = Holdfast(store="memory://", entry_points=False, workflows=[counting])
    api = await serve(engine, auth=True, authenticators=[moody])
    identity = await started(api)
    async with following(api) as client:
        await client.say(op="subscribe", id="s", topic="instance", key=identity)
        assert (await client.hear())["kind"] == "state"
        moody.moods = [StoreUnavailable("The store is unavailable."), replace(LOCAL, permissions=ROLES["worker"])]
        assert (await client.hear())["code"] == "access.denied"
        moody.moods = [NotSignedIn("The session has ended.")]
        assert (await client.hear()).data == 4401


@pytest.mark.parametrize("topic", ["instance", "instances"])
async def test_who_follows_goes_on_after_an_outage(api: Caller, monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
    """A page that stands open over night is alive in the morning, though the database was restarted."""
    monkeypatch.setattr(connection, "STORE_RETRY_DELAY", timedelta(milliseconds=10))
    identity = await started(api)
    store, failed = api.engine.runtime.store, asyncio.Event()
    asked = "read_journal" if topic == "instance" else "search"
    real = getattr(store, asked)

    async def away(*given: Any, **more: Any) -> Any:
        if failed.is_set():
            return await real(*given, **more)
        failed.set()
        raise StoreUnavailable("The store is unavailable.")

    async with following(api) as client:
        await client.say(op="subscribe", id="s", topic=topic, key=identity if topic == "instance" else "counting")
        before = await client.hear()
        monkeypatch.setattr(store, asked, away)
        await go(api, identity)
        heard = await client.hear()

    assert failed.is_set()
    if topic == "instance":
        assert (before["version"], heard["kind"], n_of(heard)) == (1, "change", 1)
    else:
        assert (heard["kind"], heard["data"]["items"][0]["id"]) == ("state", identity)


async def test_a_client_that_comes_during_an_outage_is_told_to_come_again(serve: Serve) -> None:
    moody = Moody()
    moody.now = StoreUnavailable("The store is unavailable.")
    api = await serve(auth=True, authenticators=[moody])
    async with following(api) as client:
        assert (await client.hear()).data == 1013


# -- many, and elsewhere -----------------------------------------------------------------------------------------------


async def test_many_follow_one_instance_and_it_is_read_once_per_change(api: Caller) -> None:
    identity = await started(api)
    reads = 0
    node = node_of(api.engine.runtime)
    real = node.components.cache.state

    async def counted(key: InstanceKey, *, pages: bool = True) -> Any:
        nonlocal reads
        reads += 1
        return await real(key, pages=pages)

    node.components.cache.state = counted  # type: ignore[method-assign]
    async with AsyncExitStack() as stack:
        connector = aiohttp.TCPConnector(limit=0)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        clients = []
        for _ in range(300):
            socket = await stack.enter_async_context(session.ws_connect(f"{api.url}/api/live"))
            client = Follower(socket)
            await client.say(op="subscribe", id="s", topic="instance", key=identity)
            clients.append(client)
        states = [await client.hear() for client in clients]
        before = reads
        await go(api, identity)
        async with asyncio.timeout(60):
            heard = await asyncio.gather(*(client.hear() for client in clients))
        told = reads - before

    assert {n_of(message) for message in states} == {0}
    assert {n_of(message) for message in heard} == {1}
    assert told < 20


@pytest.mark.service("postgres")
async def test_a_change_made_by_another_process_is_heard(serve: Serve, servers: dict[str, str]) -> None:
    """Two servers, each with a store handle and a node of its own."""
    url = servers["postgresql"]
    here, there = [
        await serve(Holdfast(store=url, tenant="live", node=f"live-{name}", entry_points=False, workflows=[counting]))
        for name in ("a", "b")
    ]
    identity = await started(there)
    async with following(here) as client:
        await client.say(op="subscribe", id="s", topic="instance", key=identity)
        assert n_of(await client.hear()) == 0
        await go(there, identity)
        heard = await client.until(lambda message: n_of(message) == 1)

    assert heard[-1]["kind"] == "change"


async def test_a_client_that_does_not_read_holds_nobody_up_and_is_told_the_latest(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a message is on its way nothing piles up: the next one is made of what is true by then."""
    monkeypatch.setattr(messages, "CHANGES_MAX", 2)
    identity = await started(api)
    slow_send = asyncio.Event()
    real = WebSocket.send_text
    held: list[str] = []

    async def send_text(self: WebSocket, data: str) -> None:
        if '"id":"slow"' in data and '"kind":"change"' in data and not slow_send.is_set():
            held.append(data)
            await slow_send.wait()
        await real(self, data)

    monkeypatch.setattr(WebSocket, "send_text", send_text)
    async with following(api) as slow, following(api) as quick:
        for client, name in ((slow, "slow"), (quick, "quick")):
            await client.say(op="subscribe", id=name, topic="instance", key=identity)
            await client.hear()
        for number in range(ROUNDS):
            await go(api, identity)
            await quick.until(partial(is_at, number + 1))
        assert len(held) == 1
        slow_send.set()
        heard = await slow.until(partial(is_at, ROUNDS))

    assert [message["kind"] for message in heard] == ["change", "state"]
