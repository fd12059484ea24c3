"""HTTP workflows through the real door: start, wake, answer after the commit, refuse."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace

from holdfast import Holdfast, Workflow, activity, expr
from holdfast.activities import Delay, Event, HttpEndpoint, Sequence, WriteFileHttpResponse, WriteHttpResponse
from holdfast.errors import InvalidDefinition
from holdfast.model.principal import Principal
from holdfast.model.record_rows import RecordQuery
from holdfast.model.replies import REPLY
from holdfast.ports import HttpSelectors, RequestFacts
from holdfast.ports.access import named_by
from holdfast.server.http_workflows.keys import scoped_key
from holdfast.server.upkeep import sweep
from tests.integration.server.conftest import Caller, Serve
from tests.support.raw_http import exchanged


def endpoint(path: str, *methods: str, start: bool = True, **given: Any) -> HttpEndpoint:
    return HttpEndpoint(path=path, supported_methods=list(methods) or ["GET"], can_start=start, **given)


def workflow(name: str, *activities: Any, **variables: Any) -> Workflow:
    return Workflow(Sequence(*activities), id=name, variables={"seen": None, "more": None, **variables})


def echo(name: str, path: str, *methods: str, **given: Any) -> Workflow:
    """Answers with what it was asked."""
    return workflow(name, endpoint(path, *methods, result="seen", **given), WriteHttpResponse(content=expr("seen")))


Hosted = Callable[..., Any]


@pytest.fixture
def hosted(serve: Serve) -> Hosted:
    async def start(*workflows: Workflow, auth: bool = False, **options: Any) -> Caller:
        engine = Holdfast(store="memory://", entry_points=False, workflows=workflows, **options)
        return await serve(engine, auth=auth)

    return start


# -- what a workflow gets, and what a caller gets ----------------------------------------------------------------------


async def test_a_request_starts_a_workflow_and_gets_its_answer(hosted: Hosted) -> None:
    hello = workflow("hello", endpoint("hello-world"), WriteHttpResponse(content="Hello World!"))
    api = await hosted(hello)

    answer = await api.ask("GET", "/workflows/hello-world")

    assert (answer.status, answer.body) == (200, b"Hello World!")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    instance = await api.get(f"/api/instances/{answer.headers['X-Workflow-Instance-Id']}")
    assert instance["status"] == "finished"


async def test_route_query_headers_and_body_reach_the_workflow(hosted: Hosted) -> None:
    api = await hosted(echo("orders", "orders/{id:int}/{*rest}", "POST"))

    seen = await api.post("/workflows/Orders/42/a/b%2Fc?x=1&x=2&y=%C3%A4", {"n": [1, None]}, headers={"X-Thing": "yes"})

    assert seen["route"] == {"id": "42", "rest": "a/b/c"}
    assert seen["query"] == {"x": ["1", "2"], "y": "ä"}
    assert seen["content"] == {"n": [1, None]}
    assert seen["headers"]["x-thing"] == "yes"
    assert seen["method"] == "POST"


async def test_the_parts_of_an_answer(hosted: Hosted) -> None:
    answering = workflow(
        "teapot",
        endpoint("teapot"),
        WriteHttpResponse(
            status_code=418,
            content={"tea": True},
            content_type="application/vnd.tea+json",
            response_headers={"X-Pot": "round", "Set-Cookie": ["a=1", "b=2"]},
        ),
    )
    api = await hosted(answering)

    answer = await api.ask("GET", "/workflows/teapot")

    assert (answer.status, answer.body) == (418, {"tea": True})
    assert answer.headers["content-type"] == "application/vnd.tea+json"
    assert answer.headers["x-pot"] == "round"
    assert answer.headers.getall("set-cookie") == ["a=1", "b=2"]


@pytest.mark.parametrize(
    "said",
    [
        {"status_code": 101},
        {"content": "x", "content_type": "text/plain\r\nX-Evil: 1"},
        {"content": "x", "content_type": "text/注文"},
        {"response_headers": {"X-Name": "注文"}},
        {"response_headers": {"X-Name": "a\r\nX-Evil: 1"}},
        {"response_headers": {"X Name": "a"}},
        {"response_headers": {"": "a"}},
    ],
)
async def test_an_answer_that_cannot_be_sent_is_an_incident(hosted: Hosted, said: dict[str, Any]) -> None:
    """Known before the commit, and told where it was written, instead of a connection that breaks."""
    api = await hosted(workflow("odd", endpoint("odd"), WriteHttpResponse(**said)))

    answer = await api.ask("GET", "/workflows/odd")

    assert (answer.status, answer.body["code"]) == (500, "workflow.faulted")
    (incident,) = await api.get("/api/incidents")
    assert incident["type"] == "ExecutionError"


async def test_a_tag_that_cannot_be_sent_is_an_incident(hosted: Hosted) -> None:
    api = await hosted(workflow("odd", endpoint("odd"), WriteFileHttpResponse(content="x", entity_tag="a\r\nb: c")))

    assert (await api.ask("GET", "/workflows/odd")).body["code"] == "workflow.faulted"


async def test_how_the_answer_is_framed_is_not_the_workflows_matter(hosted: Hosted) -> None:
    """As when it hands on the headers of an answer that it was given."""
    given = {"Content-Length": "300", "Transfer-Encoding": "chunked", "Connection": "close", "X-Kept": "yes"}
    api = await hosted(workflow("on", endpoint("on"), WriteHttpResponse(content="hello", response_headers=given)))

    answer = await api.ask("GET", "/workflows/on")

    assert (answer.status, answer.body, answer.headers["X-Kept"]) == (200, b"hello", "yes")
    assert answer.headers["Content-Length"] == "5"


async def test_a_workflow_that_answers_nothing_is_200_and_one_that_fails_500(hosted: Hosted) -> None:
    silent = workflow("silent", endpoint("silent"))
    broken = workflow("broken", endpoint("broken"), WriteHttpResponse(content=expr("1 / 0")))
    api = await hosted(silent, broken)

    assert (await api.ask("GET", "/workflows/silent"))[:2] == (200, b"")
    failed = await api.ask("GET", "/workflows/broken")
    assert (failed.status, failed.body["code"]) == (500, "workflow.faulted")
    assert "zero" not in str(failed.body)


async def test_forms_and_texts(hosted: Hosted) -> None:
    api = await hosted(echo("form", "form", "POST"))

    form = await api.post("/workflows/form", data={"a": "1", "b": "2"})
    text = await api.post("/workflows/form", data="plain", headers={"Content-Type": "text/plain"})

    assert form["content"] == {"a": "1", "b": "2"}
    assert text["content"] == "plain"


# -- waiting -----------------------------------------------------------------------------------------------------------


@activity
async def slow(text: str) -> str:
    await asyncio.sleep(0)
    return text.upper()


async def test_an_answer_after_an_effect_is_waited_for(hosted: Hosted) -> None:
    loud = workflow(
        "loud",
        endpoint("loud/{word}", route_data="seen"),
        slow.bind(expr("seen['word']"), result="more"),
        WriteHttpResponse(content=expr("more")),
    )
    api = await hosted(loud)

    answers = await asyncio.gather(*(api.ask("GET", f"/workflows/loud/w{n}") for n in range(20)))

    assert [answer.body for answer in answers] == [f"W{n}".encode() for n in range(20)]


async def test_an_answer_after_a_delay_is_waited_for(hosted: Hosted) -> None:
    later = workflow(
        "later", endpoint("later"), Delay(timedelta(milliseconds=50)), WriteHttpResponse(content="at last")
    )
    api = await hosted(later)

    assert (await api.ask("GET", "/workflows/later")).body == b"at last"


async def test_when_the_patience_is_over_the_caller_hears_where_to_look(hosted: Hosted) -> None:
    waiting = workflow(
        "waiting",
        endpoint("waiting", request_timeout=timedelta(milliseconds=30)),
        Event("decided"),
        WriteHttpResponse(content="late"),
    )
    asleep = workflow("asleep", endpoint("asleep"), Event("decided"))
    api = await hosted(waiting, asleep)

    for path in ("waiting", "asleep"):  # The second has nothing to answer with: nobody waits for it.
        answer = await api.ask("GET", f"/workflows/{path}")
        assert answer.status == 202
        instance = await api.get(answer.headers["Location"])
        assert instance["status"] == "suspended"


async def test_the_answer_may_come_from_another_node(serve: Serve, store_url: str) -> None:
    """The door is on a node that takes no work: the rest of the workflow happens elsewhere."""
    if store_url == "memory://":
        pytest.skip("a store in memory is of one process")
    url = store_url
    split = workflow(
        "split", endpoint("split"), Delay(timedelta(milliseconds=1)), WriteHttpResponse(content="from the worker")
    )
    common: dict[str, Any] = {"store": url, "entry_points": False, "workflows": [split], "tenant": "replies"}
    door = await serve(Holdfast(**common, worker=False, node="door"))
    async with Holdfast(**common, node="worker"):
        answer = await door.ask("GET", "/workflows/split")

    assert (answer.status, answer.body) == (200, b"from the worker")
    assert list(await door.engine.runtime.store.list_records(_replies("replies"))) == []


def _replies(tenant: str = "") -> RecordQuery:
    return RecordQuery(tenant=tenant, kind=REPLY)


# -- bookmarks ---------------------------------------------------------------------------------------------------------


def two_steps(name: str = "steps") -> Workflow:
    return workflow(
        name,
        endpoint(f"{name}/start", "POST"),
        WriteHttpResponse(content="started", status_code=201),
        endpoint(f"{name}/go/{{word}}", "POST", "PUT", start=False, route_data="seen"),
        WriteHttpResponse(content=expr("seen['word']")),
    )


async def test_a_request_wakes_the_instance_that_it_names(hosted: Hosted) -> None:
    api = await hosted(two_steps())
    started = [await api.ask("POST", "/workflows/steps/start") for _ in range(3)]
    names = [answer.headers["X-Workflow-Instance-Id"] for answer in started]

    by_header = await api.ask("POST", "/workflows/steps/go/one", headers={"X-Workflow-Instance-Id": names[1]})
    by_query = await api.ask("PUT", f"/workflows/steps/go/two?workflowInstanceId={names[0]}")

    assert [answer.status for answer in started] == [201] * 3
    assert (by_header.body, by_header.headers["X-Workflow-Instance-Id"]) == (b"one", names[1])
    assert (by_query.body, by_query.headers["X-Workflow-Instance-Id"]) == (b"two", names[0])
    again = await api.ask("POST", "/workflows/steps/go/one", headers={"X-Workflow-Instance-Id": names[1]})
    assert (again.status, again.body["code"]) == (409, "instance.ended")
    unknown = await api.ask("POST", "/workflows/steps/go/one", headers={"X-Workflow-Instance-Id": "nobody"})
    assert unknown.status == 404


async def test_a_request_wakes_by_correlation_and_starts_with_it(hosted: Hosted) -> None:
    api = await hosted(two_steps())
    for number in range(3):
        await api.ask("POST", "/workflows/steps/start", headers={"X-Correlation-Id": f"c{number}"})

    answer = await api.ask("POST", "/workflows/steps/go/x?correlationId=c1")

    found = await api.get(f"/api/instances/{answer.headers['X-Workflow-Instance-Id']}")
    assert (answer.body, found["correlation_id"]) == (b"x", "c1")
    assert (await api.ask("POST", "/workflows/steps/go/x?correlationId=c9")).status == 404


async def test_a_request_that_names_nobody_wakes_the_only_one_and_refuses_to_guess(hosted: Hosted) -> None:
    api = await hosted(two_steps())
    await api.ask("POST", "/workflows/steps/start")
    assert (await api.ask("POST", "/workflows/steps/go/x")).body == b"x"

    await api.ask("POST", "/workflows/steps/start")
    await api.ask("POST", "/workflows/steps/start")
    answer = await api.ask("POST", "/workflows/steps/go/x")

    assert (answer.status, answer.body["code"]) == (409, "route.ambiguous")


async def test_an_instance_that_is_named_goes_before_a_trigger_on_the_same_route(hosted: Hosted) -> None:
    both = workflow(
        "both",
        endpoint("both", "POST"),
        WriteHttpResponse(content="started"),
        endpoint("both", "POST", start=False),
        WriteHttpResponse(content="woken"),
    )
    api = await hosted(both)

    first = await api.ask("POST", "/workflows/both")
    name = first.headers["X-Workflow-Instance-Id"]
    second = await api.ask("POST", "/workflows/both", headers={"X-Workflow-Instance-Id": name})
    third = await api.ask("POST", "/workflows/both", headers={"X-Workflow-Instance-Id": "mine-1"})

    assert [first.body, second.body, third.body] == [b"started", b"woken", b"started"]
    assert third.headers["X-Workflow-Instance-Id"] == "mine-1"
    taken = await api.ask("POST", "/workflows/both", headers={"X-Workflow-Instance-Id": name})
    assert taken.status == 409


async def test_many_who_wake_one_bookmark_wake_it_once(hosted: Hosted) -> None:
    api = await hosted(two_steps())
    name = (await api.ask("POST", "/workflows/steps/start")).headers["X-Workflow-Instance-Id"]
    headers = {"X-Workflow-Instance-Id": name}

    answers = await asyncio.gather(*(api.ask("POST", f"/workflows/steps/go/w{n}", headers=headers) for n in range(10)))

    assert sorted(answer.status for answer in answers) == [200] + [409] * 9


async def test_selectors_are_a_port(hosted: Hosted) -> None:
    own = HttpSelectors(correlation=named_by("x-order", "order"))
    api = await hosted(two_steps(), services={HttpSelectors: own})

    answer = await api.ask("POST", "/workflows/steps/start?order=o-7")

    found = await api.get(f"/api/instances/{answer.headers['X-Workflow-Instance-Id']}")
    assert found["correlation_id"] == "o-7"


# -- routes ------------------------------------------------------------------------------------------------------------


async def test_the_closest_route_answers(hosted: Hosted) -> None:
    def named(name: str, path: str) -> Workflow:
        return workflow(name, endpoint(path), WriteHttpResponse(content=name))

    api = await hosted(named("all", "{*rest}"), named("parameter", "a/{x}"), named("literal", "a/b"))

    found = [(await api.ask("GET", f"/workflows/{path}")).body for path in ("a/b", "a/c", "a/c/d", "")]

    assert found == [b"literal", b"parameter", b"all", b"all"]


async def test_no_route_and_no_such_method(hosted: Hosted) -> None:
    api = await hosted(echo("one", "one", "GET", "PUT"))

    missing = await api.ask("GET", "/workflows/two")
    wrong = await api.ask("DELETE", "/workflows/one")
    head = await api.ask("HEAD", "/workflows/one")

    assert (missing.status, missing.body["code"]) == (404, "route.not_found")
    assert (wrong.status, wrong.headers["Allow"]) == (405, "GET, PUT")
    assert (head.status, head.body) == (200, b"")


async def test_two_definitions_on_one_route_and_method_are_refused_at_publish(hosted: Hosted) -> None:
    api = await hosted(echo("first", "things/{id}", "GET", "POST"))
    definitions = api.engine.runtime.definitions

    for path, methods in (("Things/{key}", ["POST"]), ("/things/{id}/", ["PUT", "GET"])):
        second = echo("second", path, *methods)
        with pytest.raises(InvalidDefinition, match="belongs to the workflow 'first'"):
            await definitions.save_and_publish(second)
    for path, methods in (("things/{id}", ["PUT"]), ("things/{id:int}", ["GET"]), ("things/all", ["GET"])):
        await definitions.save_and_publish(echo("second", path, *methods))
    await definitions.deploy(echo("first", "things/{id}", "GET"))


@pytest.mark.parametrize("path", ["a//b", "{x}/{x}", "a/{"])
async def test_a_path_that_is_none_is_refused_at_publish(hosted: Hosted, path: str) -> None:
    api = await hosted()
    with pytest.raises(InvalidDefinition):
        await api.engine.runtime.definitions.save_and_publish(echo("bad", path))


async def test_a_published_and_a_retracted_definition(hosted: Hosted) -> None:
    api = await hosted()
    definitions = api.engine.runtime.definitions
    assert (await api.ask("GET", "/workflows/new")).status == 404

    await definitions.save_and_publish(echo("new", "new"))
    assert (await api.ask("GET", "/workflows/new")).status == 200

    await definitions.retract("new")
    async with asyncio.timeout(10):
        while (await api.ask("GET", "/workflows/new")).status != 404:
            pass  # Asking takes its time, too.


# -- limits ------------------------------------------------------------------------------------------------------------


async def test_requests_that_are_too_large_or_malformed(hosted: Hosted) -> None:
    api = await hosted(echo("small", "small", "POST", request_size_limit=100), http_request_size_max=1_000)

    async def post(data: Any, kind: str = "application/json", **headers: str) -> tuple[int, str]:
        answer = await api.ask("POST", "/workflows/small", data=data, headers={"Content-Type": kind, **headers})
        return answer.status, answer.body.get("code", "")

    async def chunks() -> Any:
        for _ in range(20):
            yield b"x" * 10

    assert (await post(b"x" * 101, "text/plain")) == (413, "body.too_large")
    assert (await post(chunks(), "text/plain")) == (413, "body.too_large")
    assert (await post(b"{", "application/json")) == (400, "body.malformed")
    assert (await post(b"[NaN]", "application/json")) == (400, "body.malformed")
    assert (await post(b"[" * 45 + b"]" * 45, "application/json"))[0] == 200
    assert (await post(b"x", "text/plain; charset=odd")) == (415, "body.charset")
    assert (await post(b"x", "text/plain; charset=undefined")) == (415, "body.charset")
    assert (await post(b"\xff", "text/plain")) == (400, "body.malformed")
    assert (await post(b"x", "multipart/form-data")) == (400, "body.malformed")
    assert (await post(b"x", "text/plain", **{"Content-Encoding": "gzip"})) == (415, "body.encoding")
    assert (await post(b"{}"))[0] == 200


async def test_a_body_that_is_nested_too_deep_is_the_callers_fault(hosted: Hosted) -> None:
    api = await hosted(echo("deep", "deep", "POST"))

    async def post(levels: int) -> tuple[int, Any]:
        body = b'{"a":' * levels + b"1" + b"}" * levels
        answer = await api.ask("POST", "/workflows/deep", data=body, headers={"Content-Type": "application/json"})
        return answer.status, answer.body.get("code")

    assert (await post(80))[0] == 200
    for levels in (91, 150, 5_000):
        assert await post(levels) == (400, "json.too_deep")
    assert await api.get("/api/incidents") == []


def upload(*files: tuple[str, bytes, str]) -> aiohttp.FormData:
    form = aiohttp.FormData({"note": "hello"})
    for name, content, kind in files:
        form.add_field("upload", content, filename=name, content_type=kind)
    return form


async def test_files_come_in_and_go_out(hosted: Hosted) -> None:
    back = workflow("back", endpoint("back", "POST", files="seen"), WriteFileHttpResponse(content=expr("seen")))
    api = await hosted(back, echo("echo", "echo", "POST"))

    one = await api.ask("POST", "/workflows/back", data=upload(("a.txt", b"alpha", "text/plain")))
    two = await api.ask(
        "POST", "/workflows/back", data=upload(("a.txt", b"alpha", "text/plain"), ("a.txt", b"b", "x/y"))
    )
    none = await api.ask("POST", "/workflows/back", data=upload())

    assert (one.status, one.body, one.headers["content-type"]) == (200, b"alpha", "text/plain; charset=utf-8")
    assert "a.txt" in one.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(two.body)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"a.txt": b"alpha", "2-a.txt": b"b"}
    assert none.status == 204


async def test_files_are_judged(hosted: Hosted) -> None:
    picky = echo(
        "picky",
        "picky",
        "POST",
        file_size_limit=5,
        allowed_file_extensions=[".txt", "png"],
        allowed_mime_types=["text/plain", "image/*"],
    )
    exposing = workflow(
        "exposing",
        endpoint("exposing", "POST", file_size_limit=5, expose_file_too_large_outcome=True, result="seen"),
        WriteHttpResponse(content="took it"),
    )
    api = await hosted(picky, exposing)

    async def post(path: str, *file: Any) -> tuple[int, Any]:
        answer = await api.ask("POST", f"/workflows/{path}", data=upload(file))
        return answer.status, answer.body["code"] if answer.status >= 400 else answer.body

    assert (await post("picky", "a.txt", b"12345", "text/plain"))[0] == 200
    assert (await post("picky", "a.png", b"1", "image/png"))[0] == 200
    assert await post("picky", "a.txt", b"123456", "text/plain") == (413, "file.too_large")
    assert await post("picky", "a.exe", b"1", "text/plain") == (415, "file.extension")
    assert await post("picky", "a.txt", b"1", "application/pdf") == (415, "file.type")
    assert await post("exposing", "a.txt", b"123456", "text/plain") == (200, b"took it")


async def test_parts_of_a_file_and_a_file_one_has_already(hosted: Hosted) -> None:
    parts = workflow(
        "parts",
        endpoint("parts"),
        WriteFileHttpResponse(content="0123456789", filename="n.txt", entity_tag="v1", enable_resumable_downloads=True),
    )
    api = await hosted(parts)

    async def get(**headers: str) -> Any:
        return await api.ask(
            "GET", "/workflows/parts", headers={key.replace("_", "-"): v for key, v in headers.items()}
        )

    middle = await get(Range="bytes=2-4")
    assert (middle.status, middle.body, middle.headers["content-range"]) == (206, b"234", "bytes 2-4/10")
    assert (await get(Range="bytes=-3")).body == b"789"
    assert (await get(Range="bytes=20-")).status == 416
    for no_range in ("bytes=-", "bytes=4-2", f"bytes={'9' * 5000}-", f"bytes=0-{'9' * 5000}"):
        assert (await get(Range=no_range)).status == 200
    assert (await get(If_None_Match='"v1"')).status == 304
    assert (await get()).body == b"0123456789"


# -- who may ---------------------------------------------------------------------------------------------------------


async def test_an_endpoint_for_those_who_are_signed_in(hosted: Hosted) -> None:
    who = echo("who", "who", authorize=True)
    open_to_all = echo("open", "open")
    api = await hosted(who, open_to_all, auth=True, admin_password="let me in please")

    signed = await api.post("/api/auth/login", {"user": "admin", "password": "let me in please"})
    bearer = {"Authorization": f"Bearer {signed['access_token']}"}

    refused = await api.ask("GET", "/workflows/who")
    wrong = await api.ask("GET", "/workflows/who", headers={"Authorization": "Bearer nonsense"})
    seen = await api.get("/workflows/who", headers=bearer)
    assert (refused.status, wrong.status) == (401, 401)
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert seen["user"]["id"] == "admin"
    assert seen["headers"]["authorization"] == "***"  # It would be kept with the instance.
    theirs = await api.get("/workflows/open", headers={"Authorization": "Bearer of their own"})
    assert theirs["headers"]["authorization"] == "***"


async def test_policies_are_asked_by_name_and_an_unknown_one_is_no_open_door(hosted: Hosted) -> None:
    async def from_us(principal: Principal | None, request: RequestFacts) -> bool:
        return request.headers.get("x-team") == "us"

    api = await hosted(echo("team", "team", policy="team"), policies={"team": from_us})

    assert (await api.ask("GET", "/workflows/team")).status == 403
    assert (await api.ask("GET", "/workflows/team", headers={"X-Team": "us"})).status == 200
    with pytest.raises(InvalidDefinition, match="no policy 'teem'"):
        await api.engine.runtime.definitions.save_and_publish(echo("typo", "typo", policy="teem"))


# -- keys and pauses ---------------------------------------------------------------------------------------------------


async def test_the_same_key_starts_once_and_gives_the_same_answer(hosted: Hosted) -> None:
    counting = workflow(
        "once",
        endpoint("once", "POST", parsed_content="seen"),
        WriteHttpResponse(content=expr("{'seen': seen}"), status_code=201),
    )
    api = await hosted(counting)
    key = {"Idempotency-Key": "k-1"}

    answers = await asyncio.gather(*(api.ask("POST", "/workflows/once", {"n": 1}, headers=key) for _ in range(5)))
    other = await api.ask("POST", "/workflows/once", {"n": 2}, headers=key)

    assert {answer.status for answer in answers} == {201}
    assert [answer.body for answer in answers] == [{"seen": {"n": 1}}] * 5
    assert len({answer.headers["X-Workflow-Instance-Id"] for answer in answers}) == 1
    assert (other.status, other.body["code"]) == (422, "idempotency.reused")
    endless = await api.ask("POST", "/workflows/once", {"n": 1}, headers={"Idempotency-Key": "k" * 201})
    assert (endless.status, endless.body["code"]) == (422, "idempotency.too_long")


async def test_a_resume_that_is_sent_again_is_answered_as_the_first_time(hosted: Hosted) -> None:
    asking = workflow(
        "asking",
        endpoint("ask", "POST"),
        WriteHttpResponse(content="asked"),
        HttpEndpoint(path="answer", supported_methods=["POST"], parsed_content="seen", id="answered"),
        WriteHttpResponse(content=expr("{'seen': seen}"), status_code=201, id="thanks"),
    )
    api = await hosted(asking)
    started = await api.ask("POST", "/workflows/ask", headers={"X-Correlation-Id": "c-1"})
    headers = {"X-Correlation-Id": "c-1", "Idempotency-Key": "k-1"}

    first = await api.ask("POST", "/workflows/answer", {"n": 1}, headers=headers)
    again = await api.ask("POST", "/workflows/answer", {"n": 1}, headers=headers)
    other = await api.ask("POST", "/workflows/answer", {"n": 2}, headers=headers)
    unknown = await api.ask("POST", "/workflows/answer", {"n": 1}, headers={**headers, "Idempotency-Key": "k-2"})

    instance = started.headers["X-Workflow-Instance-Id"]
    assert (first.status, first.body) == (201, {"seen": {"n": 1}})
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["X-Workflow-Instance-Id"] == first.headers["X-Workflow-Instance-Id"] == instance
    assert (other.status, other.body["code"]) == (422, "idempotency.reused")
    assert unknown.status in {404, 409}


async def test_a_resume_that_is_sent_again_does_not_wake_the_next_wait(hosted: Hosted) -> None:
    twice = workflow(
        "twice",
        endpoint("begin", "POST"),
        WriteHttpResponse(content="begun"),
        HttpEndpoint(path="step", supported_methods=["POST"], parsed_content="seen", id="one"),
        WriteHttpResponse(content=expr("{'one': seen}"), id="first"),
        HttpEndpoint(path="step", supported_methods=["POST"], parsed_content="seen", id="two"),
        WriteHttpResponse(content=expr("{'two': seen}"), id="second"),
    )
    api = await hosted(twice)
    started = await api.ask("POST", "/workflows/begin")
    headers = {"X-Workflow-Instance-Id": started.headers["X-Workflow-Instance-Id"]}

    answers = [
        await api.ask("POST", "/workflows/step", 1, headers={**headers, "Idempotency-Key": key})
        for key in ("a", "a", "b", "a", "b")
    ]

    assert [answer.body for answer in answers] == [{"one": 1}, {"one": 1}, {"two": 1}, {"one": 1}, {"two": 1}]


async def test_a_repeated_resume_of_somebody_else_is_not_answered(hosted: Hosted) -> None:
    guarded = workflow(
        "guarded",
        endpoint("open-it", "POST"),
        WriteHttpResponse(content="opened"),
        HttpEndpoint(path="secret", supported_methods=["POST"], authorize=True, id="authorised"),
        WriteHttpResponse(content="secret", id="told"),
    )
    api = await hosted(guarded, auth=True)
    accounts = api.app.backend.accounts
    keys = [(await accounts.keys.add(name, roles=["viewer"]))[1] for name in ("a", "b")]
    started = await api.ask("POST", "/workflows/open-it")
    headers = {"X-Workflow-Instance-Id": started.headers["X-Workflow-Instance-Id"], "Idempotency-Key": "k"}

    mine = [await api.ask("POST", "/workflows/secret", headers={**headers, "X-Api-Key": keys[0]}) for _ in range(2)]
    theirs = await api.ask("POST", "/workflows/secret", headers={**headers, "X-Api-Key": keys[1]})
    nobodys = await api.ask("POST", "/workflows/secret", headers=headers)

    assert [answer.body for answer in mine] == [b"secret", b"secret"]
    assert theirs.status in {404, 409}
    assert nobodys.status in {404, 409}


async def test_a_key_is_its_callers_own(hosted: Hosted) -> None:
    api = await hosted(echo("mine", "mine", "POST", authorize=True), auth=True)
    accounts = api.app.backend.accounts
    keys = [(await accounts.keys.add(name, roles=["viewer"]))[1] for name in ("a", "b")]

    answers = [
        await api.ask("POST", "/workflows/mine", headers={"X-Api-Key": key, "Idempotency-Key": "k-1"}) for key in keys
    ]

    assert [answer.body["user"]["name"] for answer in answers] == ["a", "b"]


async def test_no_key_spells_the_key_of_another_caller(hosted: Hosted) -> None:
    guarded = workflow(
        "guarded",
        endpoint("open-it", "POST"),
        WriteHttpResponse(content="opened"),
        HttpEndpoint(path="secret", supported_methods=["POST"], authorize=True, id="authorised"),
        WriteHttpResponse(content="secret", id="told"),
    )
    api = await hosted(guarded, auth=True)
    key, text = await api.app.backend.accounts.keys.add("a", roles=["viewer"])
    started = await api.ask("POST", "/workflows/open-it")
    address = {"X-Workflow-Instance-Id": started.headers["X-Workflow-Instance-Id"]}
    mine = await api.ask("POST", "/workflows/secret", headers={**address, "X-Api-Key": text, "Idempotency-Key": "k"})
    assert mine.body == b"secret"

    who = Principal(id=f"key:{key.id}", name="a")
    spelled = [
        f"key:{key.id}:k",
        f"{key.id}:k",
        "a:k",
        scoped_key("k", who, {"authorize": True}),
        scoped_key("k", who, {}),
    ]
    for forged in spelled:
        answer = await api.ask("POST", "/workflows/secret", headers={**address, "Idempotency-Key": forged})
        assert answer.status in {404, 409}


async def test_a_repeated_request_is_authorized_again(hosted: Hosted) -> None:
    allowed = {"partner": True}

    async def rule(principal: Any, request: Any) -> bool:
        return allowed["partner"]

    guarded = workflow(
        "guarded",
        endpoint("open-it", "POST"),
        WriteHttpResponse(content="opened"),
        HttpEndpoint(path="secret", supported_methods=["POST"], policy="partner", id="guarded"),
        WriteHttpResponse(content="secret", id="told"),
        HttpEndpoint(path="secret", supported_methods=["POST"], id="unguarded"),
        WriteHttpResponse(content="open", id="told-too"),
    )
    api = await hosted(guarded, policies={"partner": rule}, auth=True)
    started = await api.ask("POST", "/workflows/open-it")
    headers = {"X-Workflow-Instance-Id": started.headers["X-Workflow-Instance-Id"], "Idempotency-Key": "k"}

    answers = [await api.ask("POST", "/workflows/secret", headers=headers) for _ in range(2)]
    allowed["partner"] = False
    refused = await api.ask("POST", "/workflows/secret", headers=headers)

    assert [answer.body for answer in answers] == [b"secret", b"secret"]  # the second one does not wake the next wait
    assert refused.body == b"open"


async def test_no_body_is_read_for_a_key_that_nobody_used(hosted: Hosted) -> None:
    api = await hosted(echo("known", "known", "POST"), auth=True)

    answer = await exchanged(
        api.url,
        b"POST /workflows/unknown HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nIdempotency-Key: k\r\n\r\n",
    )

    assert answer.status == 404


@pytest.mark.parametrize("authorize", [False, True])
async def test_credentials_of_a_request_are_not_stored(hosted: Hosted, authorize: bool) -> None:
    api = await hosted(echo("all", "all", "GET", authorize=authorize), auth=True)
    _, key = await api.app.backend.accounts.keys.add("a", roles=["admin"])
    secret = {"Authorization": f"Bearer {key}", "Cookie": "session=s3cret", "X-Forwarded-User": "kim@s3cret"}

    answer = await api.ask("GET", "/workflows/all", headers={**secret, "X-Order": "7"})

    assert answer.status == 200
    assert answer.body["headers"]["x-order"] == "7"
    assert answer.body["headers"]["authorization"] == answer.body["headers"]["cookie"] == "***"
    instance = answer.headers["X-Workflow-Instance-Id"]
    stored = [
        await api.get(f"/api/instances/{instance}{part}", headers={"X-Api-Key": key}) for part in ("", "/journal")
    ]
    assert key not in str(stored)
    assert "s3cret" not in str(stored)


async def test_an_endpoint_receives_the_credentials_that_it_names(hosted: Hosted) -> None:
    api = await hosted(echo("named", "named", "GET", unmasked_headers=["X-Api-Key"]))

    answer = await api.ask("GET", "/workflows/named", headers={"X-Api-Key": "theirs", "Cookie": "a=b"})

    assert (answer.body["headers"]["x-api-key"], answer.body["headers"]["cookie"]) == ("theirs", "***")


async def test_a_node_that_pauses_sends_callers_elsewhere(hosted: Hosted) -> None:
    api = await hosted(echo("open", "open"))
    api.engine.runtime.intake.paused = True

    answer = await api.ask("GET", "/workflows/open")

    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


async def test_under_a_base_path(serve: Serve) -> None:
    asleep = workflow("asleep", endpoint("asleep/{x}", route_data="seen"), Event("decided"))
    engine = Holdfast(store="memory://", entry_points=False, workflows=[asleep])
    api = await serve(engine, base_path="/flows")

    answer = await api.ask("GET", "/flows/workflows/asleep/a%2Fb")

    assert answer.status == 202
    instance = await api.get(answer.headers["Location"])
    assert instance["state"]["variables"]["seen"] == {"x": "a/b"}


async def test_answers_that_nobody_fetched_are_cleared_away(hosted: Hosted) -> None:
    answering = workflow("kept", endpoint("kept", "POST"), WriteHttpResponse(content="kept"))
    api = await hosted(answering)
    await api.ask("POST", "/workflows/kept", headers={"Idempotency-Key": "k"})
    store, accounts = api.engine.runtime.store, api.app.backend.accounts
    (record,) = await store.list_records(_replies())
    assert await sweep(store, "", accounts) == 0

    await store.put_record(replace(record, version=record.version + 1, due=record.created))

    assert await sweep(store, "", accounts) == 1
    assert list(await store.list_records(_replies())) == []
