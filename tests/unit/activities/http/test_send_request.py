"""Calling others: outcomes, retries, limits, and a guard that sees every address."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from holdfast import Runner, RunResult, Workflow
from holdfast.activities import DownloadHttpFile, FlowSendHttpRequest, SendHttpRequest, Sequence, WriteLine
from holdfast.activities.http import send_request
from holdfast.activities.http.outbound import AddressRefused, Hop, OutboundHttp, redirected
from holdfast.errors import ExecutionError, SettingsError

Answering = Callable[[web.Request], Any]


class Elsewhere:
    """A web server of somebody else."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answers: list[Any] = []
        self.connections: set[Any] = set()
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append({"method": request.method, "headers": dict(request.headers), "body": body})
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername"))
        return self.answers.pop(0) if self.answers else web.json_response({"path": request.path})


@pytest.fixture
async def elsewhere() -> AsyncIterator[Elsewhere]:
    place = Elsewhere()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", place.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    place.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    yield place
    await runner.cleanup()


@pytest.fixture
def runner(make_engine: Any) -> Runner:
    found: Runner = make_engine(http_private_allowed="127.0.0.0/8").runner
    return found


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send_request, "FIRST_DELAY", timedelta(0))


async def sent(runner: Runner, request: Any) -> RunResult:
    variables = {"status": None, "content": None, "all": None}
    return await runner.run(Workflow(Sequence(request), id="w", variables=variables))


def outcomes(result: RunResult) -> Any:
    ended = [entry for entry in result.journal if entry.event == "completed" and "Http" in (entry.activity_type or "")]
    return ended[-1].data


async def test_a_request_and_its_answer(runner: Runner, elsewhere: Elsewhere) -> None:
    result = await sent(
        runner,
        FlowSendHttpRequest(
            url=f"{elsewhere.url}/orders",
            method="post",
            content={"n": 1},
            authorization="Bearer t",
            request_headers={"X-Many": ["a", "b"]},
            status_code="status",
            parsed_content="content",
            result="all",
        ),
    )

    assert result.variables["status"] == 200
    assert result.variables["content"] == {"path": "/orders"}
    assert result.variables["all"]["headers"]["content-type"] == "application/json; charset=utf-8"
    (seen,) = elsewhere.seen
    assert (seen["method"], json.loads(seen["body"])) == ("POST", {"n": 1})
    assert seen["headers"]["Authorization"] == "Bearer t"
    assert seen["headers"]["X-Many"] == "a, b"
    assert seen["headers"]["Content-Type"] == "application/json"
    assert seen["headers"]["Idempotency-Key"].startswith(result.instance_id)
    assert "Bearer t" not in str([entry.data for entry in result.journal])


@pytest.mark.parametrize(
    ("status", "named"), [(200, ("200", "Done")), (404, ("404", "Done")), (500, ("Unmatched status code", "Done"))]
)
async def test_outcomes_by_status(runner: Runner, elsewhere: Elsewhere, status: int, named: tuple[str, ...]) -> None:
    elsewhere.answers = [web.Response(status=status)]

    result = await sent(runner, FlowSendHttpRequest(url=elsewhere.url, expected_status_codes=[200, 404]))

    assert tuple(outcomes(result)) == named


async def test_nobody_there_and_nobody_in_time(runner: Runner, elsewhere: Elsewhere) -> None:
    gone = await sent(runner, FlowSendHttpRequest(url="http://127.0.0.1:9/"))
    late = await sent(runner, FlowSendHttpRequest(url=elsewhere.url, request_timeout=timedelta(microseconds=1)))

    assert outcomes(gone) in ("Failed to connect", ("Failed to connect",), ["Failed to connect"])
    assert outcomes(late) in ("Timeout", ("Timeout",), ["Timeout"])


async def test_branches_by_status(runner: Runner, elsewhere: Elsewhere) -> None:
    def request(**more: Any) -> SendHttpRequest:
        return SendHttpRequest(
            url=elsewhere.url,
            expected_status_codes=[
                {"status_code": 200, "activity": WriteLine("fine")},
                {"status_code": 404, "activity": WriteLine("not there")},
            ],
            unmatched_status_code=WriteLine("odd"),
            **more,
        )

    lines = []
    for status in (200, 404, 418):
        elsewhere.answers = [web.Response(status=status)]
        lines += (await sent(runner, request())).lines

    assert lines == ["fine", "not there", "odd"]
    unreachable = SendHttpRequest(url="http://127.0.0.1:9/", failed_to_connect=WriteLine("gone"))
    assert (await sent(runner, unreachable)).lines == ["gone"]
    assert (await sent(runner, SendHttpRequest(url="http://127.0.0.1:9/"))).status == "faulted"


async def test_retries_are_the_same_request(runner: Runner, elsewhere: Elsewhere) -> None:
    elsewhere.answers = [
        web.Response(status=503),
        web.Response(status=429, headers={"Retry-After": "0"}),
        web.Response(status=200),
    ]

    result = await sent(
        runner,
        FlowSendHttpRequest(
            url=elsewhere.url, method="POST", content="x", enable_resiliency=True, status_code="status"
        ),
    )

    assert result.variables["status"] == 200
    assert len(elsewhere.seen) == 3
    assert len({item["headers"]["Idempotency-Key"] for item in elsewhere.seen}) == 1


async def test_an_answer_that_is_too_large_is_a_fault(runner: Runner, elsewhere: Elsewhere) -> None:
    elsewhere.answers = [web.Response(body=b"x" * 1_000)]

    result = await sent(runner, FlowSendHttpRequest(url=elsewhere.url, response_size_limit=100))

    assert result.status == "faulted"
    assert "larger than 100 bytes" in result.incidents[0].message


async def test_a_file_from_elsewhere(runner: Runner, elsewhere: Elsewhere) -> None:
    elsewhere.answers = [
        web.Response(body=b"\x00\x01", headers={"Content-Disposition": 'attachment; filename="../a b.bin"'})
    ]

    result = await sent(runner, DownloadHttpFile(url=f"{elsewhere.url}/x", result="all", status_code="status"))

    file = result.variables["all"]
    assert (file["filename"], file["content"], file["size"]) == ("a b.bin", b"\x00\x01", 2)
    assert tuple(outcomes(result)) == ("200", "Done")


# -- the guard ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
        "10.1.2.3",
    ],
)
async def test_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    with pytest.raises((AddressRefused, ExecutionError, OSError)) as refused:
        await OutboundHttp().request("GET", f"http://{host}:9/", timeout=timedelta(seconds=5))

    said = str(refused.value).lower()
    assert isinstance(refused.value, AddressRefused) or "resolve" in said or "not a canonical" in said


async def test_connections_are_used_again_while_an_application_is_open(make_engine: Any, elsewhere: Elsewhere) -> None:
    engine = make_engine(http_private_allowed="127.0.0.0/8")
    async with engine:
        for _ in range(3):
            await sent(engine.runner, FlowSendHttpRequest(url=elsewhere.url))
    assert len(elsewhere.connections) == 1

    for _ in range(2):
        await sent(make_engine(http_private_allowed="127.0.0.0/8").runner, FlowSendHttpRequest(url=elsewhere.url))
    assert len(elsewhere.connections) == 3


async def test_the_guard_stands_before_connections_that_are_kept(elsewhere: Elsewhere) -> None:
    outbound = OutboundHttp("127.0.0.1")
    outbound.keep()
    try:
        await outbound.request("GET", elsewhere.url)
        elsewhere.answers = [web.Response(status=302, headers={"Location": "http://[::1]:9/secret"})]
        with pytest.raises(AddressRefused, match="private address"):
            await outbound.request("GET", elsewhere.url)
    finally:
        await outbound.let_go()

    assert len(elsewhere.connections) == 1


async def test_a_redirect_does_not_lead_inside(elsewhere: Elsewhere) -> None:
    elsewhere.answers = [web.Response(status=302, headers={"Location": "http://[::1]:9/secret"})]
    outbound = OutboundHttp("127.0.0.1")

    with pytest.raises(AddressRefused, match="private address") as refused:
        await outbound.request("GET", elsewhere.url)

    assert "::1" not in str(refused.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_credentials_do_not_follow_a_redirect_to_another_origin(elsewhere: Elsewhere, status: int) -> None:
    hop = Hop(
        method="POST",
        url="https://shop.example/a",
        headers={"Authorization": "a", "X-Api-Key": "b", "X-Shop-Secret": "c", "Cookie": "d", "Accept": "text/plain"},
        body=b"x",
    )
    here = URL("https://shop.example/a")

    for location in ("/b", "b?c=1", "https://shop.example/b", "https://shop.example:443/b"):
        assert redirected(hop, status, here, location).headers == hop.headers
    for location in (
        "http://shop.example/b",
        "https://shop.example:8443/b",
        "//evil.example/b",
        "https://x.shop.example/",
    ):
        assert redirected(hop, status, here, location).headers == {"Accept": "text/plain"}
    with pytest.raises(OSError, match="no HTTP address"):
        redirected(hop, status, here, "file:///etc/passwd")
    kept = (redirected(hop, status, here, "/b").method, redirected(hop, status, here, "/b").body)
    assert kept == (("POST", b"x") if status in {307, 308} else ("GET", None))


async def test_a_redirect_to_another_origin_over_the_wire(elsewhere: Elsewhere) -> None:
    other = elsewhere.url.replace("127.0.0.1", "localhost")
    elsewhere.answers = [web.Response(status=302, headers={"Location": f"{other}/next"}), web.Response(text="done")]

    answer = await OutboundHttp("127.0.0.1,::1").request("GET", elsewhere.url, headers={"X-Api-Key": "secret"})

    assert (answer.status, answer.body) == (200, b"done")
    assert elsewhere.seen[0]["headers"]["X-Api-Key"] == "secret"
    assert "X-Api-Key" not in elsewhere.seen[1]["headers"]


async def test_a_refusal_is_a_fault_that_names_the_setting(make_engine: Any, elsewhere: Elsewhere) -> None:
    result = await sent(make_engine().runner, FlowSendHttpRequest(url=elsewhere.url))

    assert result.status == "faulted"
    assert "http_private_allowed" in result.incidents[0].message
    assert elsewhere.seen == []


def test_what_may_be_called() -> None:
    guard = OutboundHttp("10.0.0.0/8, fd00::/8")

    assert guard.is_allowed("93.184.216.34")
    assert guard.is_allowed("10.9.8.7")
    assert guard.is_allowed("fd00::1")
    for private in (
        "192.168.1.1",
        "127.0.0.1",
        "::1",
        "fe80::1%eth0",
        "::ffff:192.168.0.1",
        "224.0.0.1",
        "100.64.0.1",
        "64:ff9b::7f00:1",
    ):
        assert not guard.is_allowed(private)
    assert OutboundHttp("*").is_allowed("127.0.0.1")
    with pytest.raises(SettingsError, match="http_private_allowed"):
        OutboundHttp("10.0.0.0/99")
