"""The probe of a worker, asked by the polite, the slow, the greedy and the mad; and where it listens."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from holdfast.cli import probe_server
from holdfast.cli.failures import BadInput
from holdfast.cli.probe_answers import listen_for_probes
from holdfast.cli.probe_server import MalformedRequest, Probe, ProbeRequest, Reply, read_request

from .conftest import Call

LARGE = b"x" * 20_000_000
"""More than the buffers between two sockets hold."""
ASKED = b"GET /hello HTTP/1.1\r\nHost: here\r\n\r\n"


class Door:
    """A probe with a few answers, and how to send it bytes."""

    def __init__(self) -> None:
        (self.bound,) = listen_for_probes("0")
        self.never = asyncio.Event()
        self.asked_much = asyncio.Event()
        self.probe = Probe(
            [self.bound],
            {"/hello": self.hello, "/large": self.large, "/broken": self.broken, "/silent": self.silent},
        )

    async def hello(self, request: ProbeRequest) -> Reply:
        return Reply(HTTPStatus.OK, f"hello {request.headers.get('accept', '')}".encode())

    async def large(self, _: ProbeRequest) -> Reply:
        self.asked_much.set()
        return Reply(HTTPStatus.OK, LARGE)

    async def broken(self, _: ProbeRequest) -> Reply:
        raise RuntimeError("a mistake of ours")

    async def silent(self, _: ProbeRequest) -> Reply:
        await self.never.wait()
        return Reply(HTTPStatus.OK)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.bound.getsockname())

    async def send(self, data: bytes, *, end: bool = False) -> bytes:
        """The whole answer, once the connection is closed."""
        reader, writer = await self.connect()
        writer.write(data)
        if end:
            writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer

    async def is_well(self) -> bool:
        return (await self.send(ASKED)).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    made = Door()
    async with asyncio.timeout(30), made.probe:
        yield made


async def test_a_question_is_answered_and_the_connection_closed(door: Door) -> None:
    answer = await door.send(b"GET /hello?x=1 HTTP/1.1\r\nHost: here\r\naccept:  all \r\n\r\n")

    head, _, body = answer.partition(b"\r\n\r\n")
    assert body == b"hello all"
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 200 OK",
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: 9",
        b"Cache-Control: no-store",
        b"Connection: close",
    ]


async def test_head_is_the_same_without_a_body(door: Door) -> None:
    answer = await door.send(b"HEAD /hello HTTP/1.0\r\n\r\n")

    assert answer.endswith(b"\r\n\r\n")
    assert b"Content-Length: 6\r\n" in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /other HTTP/1.1\r\nHost: here\r\n\r\n", b"404"),
        (b"GET //hello HTTP/1.1\r\nHost: here\r\n\r\n", b"404"),
        (b"POST /hello HTTP/1.1\r\nHost: here\r\n\r\n", b"405"),
        (b"get /hello HTTP/1.1\r\nHost: here\r\n\r\n", b"405"),
        (b"GET /hello HTTP/1.1\r\n\r\n", b"400"),
        (b"GET hello HTTP/1.1\r\nHost: here\r\n\r\n", b"400"),
        (b"GET http://here/hello HTTP/1.1\r\nHost: here\r\n\r\n", b"400"),
        (b"GET /hello HTTP/2.0\r\nHost: here\r\n\r\n", b"400"),
        (b"GET  /hello HTTP/1.1\r\nHost: here\r\n\r\n", b"400"),
        (b"GET /hello HTTP/1.1\r\nHost: here\r\n folded: x\r\n\r\n", b"400"),
        (b"GET /hello HTTP/1.1\r\nHost : here\r\n\r\n", b"400"),
        (b"GET /hello HTTP/1.1\r\nHost: here\nX: y\r\n\r\n", b"400"),
        (b"GET /hello HTTP/1.1\r\nHost: \x00\r\n\r\n", b"400"),
        (b"\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    ],
)
async def test_what_is_refused(door: Door, sent: bytes, status: bytes) -> None:
    answer = await door.send(sent)

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close\r\n" in answer
    assert (b"Allow: GET, HEAD\r\n" in answer) == (status == b"405")


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda data: ASKED[:20] + data + b"\r\n\r\n"))
def test_any_bytes_are_a_question_or_refused(head: bytes) -> None:
    try:
        found = read_request(head)
    except MalformedRequest:
        return

    assert found.path.startswith("/")


async def test_one_that_goes_in_the_middle_is_told(door: Door) -> None:
    assert (await door.send(b"GET /hel", end=True)).startswith(b"HTTP/1.1 400")
    assert (await door.send(b"", end=True)).startswith(b"HTTP/1.1 400")
    assert await door.is_well()


async def test_a_slow_sender_is_not_waited_for(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hasty:
        hasty.setattr(probe_server, "HEAD_TIMEOUT", 0.01)
        assert (await door.send(b"GET /hello HTTP/1.1\r\nHost: he")).startswith(b"HTTP/1.1 408")
    assert await door.is_well()


async def test_a_head_without_an_end_is_not_read_on(door: Door) -> None:
    endless = b"GET /hello HTTP/1.1\r\nHost: here\r\nX: " + b"y" * probe_server.HEAD_BYTES_MAX

    assert (await door.send(endless)).startswith(b"HTTP/1.1 431")
    assert await door.is_well()


async def test_a_flood_harms_nobody_else(door: Door) -> None:
    _, writer = await door.connect()
    with pytest.raises(ConnectionError):
        while True:
            writer.write(b"y" * 65_536)
            await writer.drain()
    writer.close()

    assert await door.is_well()


async def test_one_that_does_not_take_its_answer_is_cut_off(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_server, "SEND_TIMEOUT", 0.01)
    reader, writer = await door.connect()
    writer.write(b"GET /large HTTP/1.0\r\n\r\n")
    await asyncio.wait_for(door.asked_much.wait(), 30)
    assert await door.is_well()
    await asyncio.gather(*door.probe._open)

    assert len(await reader.read()) < len(LARGE)
    writer.close()


async def test_a_large_answer_arrives_whole(door: Door) -> None:
    assert (await door.send(b"GET /large HTTP/1.0\r\n\r\n")).endswith(b"\r\n\r\n" + LARGE)


async def test_more_connections_than_it_takes_are_closed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_server, "CONNECTIONS_MAX", 2)
    first, second = await door.connect(), await door.connect()
    try:
        assert await door.send(b"") == b""
    except ConnectionError:
        pass
    for reader, writer in (first, second):
        writer.write(ASKED)
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()

    assert await door.is_well()


async def test_a_mistake_of_ours_is_logged_and_told(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="holdfast"):
        answer = await door.send(b"GET /broken HTTP/1.0\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 500")
    assert b"mistake" not in answer
    assert "cannot answer /broken" in caplog.text
    assert await door.is_well()


async def test_an_answer_that_does_not_come_is_not_waited_for(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_server, "ANSWER_TIMEOUT", 0.01)

    assert (await door.send(b"GET /silent HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.1 503")


async def test_who_is_connected_when_it_ends_is_let_go() -> None:
    door = Door()
    async with asyncio.timeout(30):
        async with door.probe:
            assert await door.is_well()
            address = door.bound.getsockname()
            reader, writer = await door.connect()
            writer.write(b"GET /hel")
            await writer.drain()
        with pytest.raises(ConnectionError):
            await asyncio.open_connection(*address)
        try:
            assert await reader.read() == b""
        except ConnectionError:
            pass
        writer.close()


# -- where it listens --------------------------------------------------------------------------------------------------


def test_a_port_for_probes_that_is_taken_ends_the_worker_before_it_begins(call: Call, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = call("worker", "--store", "sqlite:///here.db", "--probe", str(port))

    assert result.exit_code == 2
    assert f"Cannot listen on 127.0.0.1:{port}" in result.stderr
    assert "--probe" in result.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize("text", ["x", "70000", "here:", ":x", "::1:9600", "-1", "٣", "1.5"])
def test_what_is_no_address_for_probes(text: str) -> None:
    with pytest.raises(BadInput, match="not an address for probes"):
        listen_for_probes(text)


@pytest.mark.parametrize(("text", "host"), [("0", "127.0.0.1"), (":0", "127.0.0.1"), ("127.0.0.2:0", "127.0.0.2")])
def test_where_it_listens(text: str, host: str) -> None:
    (bound,) = listen_for_probes(text)
    with bound:
        assert bound.getsockname()[0] == host


def test_it_listens_nowhere_unless_it_is_told_to() -> None:
    assert listen_for_probes("") == []


def test_the_setting_is_heeded_and_the_option_is_stronger(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_PROBE", "nowhere")

    assert "'nowhere' is not an address for probes" in call("worker").stderr
    assert "'there' is not an address for probes" in call("worker", "--probe", "there").stderr
