"""Instances over REST: starting, lists, reading, what operators do."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Holdfast, Workflow, activity, wait_for, workflow
from holdfast.model.listing import InstanceSort
from holdfast.server.views import bookmarks
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import FAILING, HELLO, WAITING


@dataclass
class Signature:
    by: str
    pages: int


@workflow
async def signing() -> int:
    return (await wait_for(Signature)).pages


@pytest.fixture
async def ready(api: Caller) -> Caller:
    """With three published definitions."""
    for document in (HELLO, WAITING, FAILING):
        await api.post("/api/definitions", document, expect=201)
        await api.post(f"/api/definitions/{document['id']}/publish")
    return api


async def test_execute_waits_for_the_end(ready: Caller) -> None:
    answer = await ready.ask("POST", "/api/definitions/hello/execute", {"input": {"who": "you"}})

    assert answer.status == 200
    assert answer.body["status"] == "finished"
    assert answer.body["outputs"] == {"greeting": "Hello you"}
    assert answer.headers["X-Workflow-Instance-Id"] == answer.body["instance_id"]


async def test_execute_that_is_sent_again_waits_as_the_first_time(serve: Serve) -> None:
    go_on = asyncio.Event()

    @activity
    async def linger() -> None:
        await go_on.wait()

    lingering = Workflow(linger.bind(), id="lingering")
    engine = Holdfast(store="memory://", entry_points=False, workflows=[lingering], execute_wait="100ms")
    api = await serve(engine)

    async def execute() -> tuple[int, str]:
        answer = await api.ask("POST", "/api/definitions/lingering/execute", headers={"Idempotency-Key": "k"})
        return answer.status, answer.body["status"]

    assert [await execute(), await execute()] == [(202, "running"), (202, "running")]
    go_on.set()
    assert await execute() == (200, "finished")


async def test_of_many_starts_each_is_queued_or_refused_on_its_own(ready: Caller) -> None:
    requests = [{"instance_id": "first"}, {"instance_id": "no id"}, {"delay": "soon"}, {"instance_id": "last"}]

    answer = await ready.post("/api/definitions/hello/bulk-dispatch", {"requests": requests}, expect=202)

    assert [name for result in answer["results"] for name in result["instance_ids"]] == ["first", "last"]
    assert answer["count"] == 2
    assert [(item["index"], item["code"]) for item in answer["failed"]] == [(1, "id.invalid"), (2, "duration.invalid")]
    await ready.post("/api/definitions/nobody/bulk-dispatch", {"requests": requests}, expect=404)


async def test_of_many_that_are_named_those_that_are_not_there_are_told(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]

    done = await ready.post("/api/instances/bulk", {"action": "cancel", "ids": [name, "nobody", "nobody"]})

    assert (done["changed"], done["unchanged"]) == (1, 0)
    assert [(item["id"], item["code"]) for item in done["failed"]] == [("nobody", "instance.not_found")]


async def test_execute_without_a_body_takes_the_defaults(ready: Caller) -> None:
    assert (await ready.post("/api/definitions/hello/execute"))["outputs"] == {"greeting": "Hello world"}


async def test_execute_by_get_takes_its_inputs_from_the_query(ready: Caller) -> None:
    answer = await ready.ask(
        "GET", "/api/definitions/hello/execute", params={"input": '{"who": "Ada"}', "correlation_id": "c1"}
    )

    assert (answer.status, answer.body["outputs"]) == (200, {"greeting": "Hello Ada"})
    found = await ready.get(f"/api/instances/{answer.body['instance_id']}")
    assert found["correlation_id"] == "c1"
    for wrong in ("nothing", "[1]"):
        refused = await ready.ask("GET", "/api/definitions/hello/execute", params={"input": wrong})
        assert (refused.status, refused.body["code"]) == (422, "input.invalid")


async def test_altering_an_ended_instance_is_refused(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/hello/execute"))["instance_id"]

    refused = await ready.post(
        f"/api/instances/{name}/alter", {"alterations": [{"type": "migrate", "version": 1}]}, expect=409
    )

    assert refused["code"] == "instance.ended"


async def test_wrong_inputs_are_told_by_field(ready: Caller) -> None:
    refused = await ready.post("/api/definitions/hello/execute", {"input": {"who": 5, "more": 1}}, expect=422)

    assert refused["code"] == "input.invalid"
    assert {item["path"] for item in refused["errors"]} == {"/who", "/more"}


async def test_a_misspelled_field_is_told_with_the_one_that_was_meant(ready: Caller) -> None:
    refused = await ready.post("/api/definitions/hello/execute", {"inputs": {"who": "you"}}, expect=422)

    assert refused["detail"] == "/body/inputs: There is no field 'inputs' here. Did you mean 'input'?"


async def test_dispatch_names_the_instance_before_it_runs(ready: Caller) -> None:
    answer = await ready.ask("POST", "/api/definitions/hello/dispatch", {"correlation_id": "c1"})

    assert answer.status == 202
    (name,) = answer.body["instance_ids"]
    assert answer.headers["Location"] == f"/api/instances/{name}"
    found = await ready.until(f"/api/instances/{name}", lambda item: item["status"] == "finished")
    assert found["correlation_id"] == "c1"
    assert found["state"]["outputs"] == {"greeting": "Hello world"}


async def test_an_idempotency_key_starts_one_instance(ready: Caller) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = await ready.post("/api/definitions/hello/dispatch", {}, expect=202, headers=headers)
    again = await ready.post("/api/definitions/hello/dispatch", {}, expect=202, headers=headers)
    other = await ready.post("/api/definitions/hello/dispatch", {"input": {"who": "x"}}, expect=422, headers=headers)

    assert again["instance_ids"] == first["instance_ids"]
    assert (first["existing"], again["existing"]) == (False, True)
    assert other["code"] == "idempotency.reused"
    assert (await ready.get("/api/instances?total=true"))["total"] == 1


async def test_many_starts_in_one_request(ready: Caller) -> None:
    requests = [{"input": {"who": str(number)}, "idempotency_key": f"k{number % 3}"} for number in range(3)]
    result = await ready.post("/api/definitions/hello/bulk-dispatch", {"requests": requests}, expect=202)

    assert result["count"] == 3
    assert len({name for item in result["results"] for name in item["instance_ids"]}) == 3


async def test_a_draft_is_not_started_by_default(api: Caller) -> None:
    await api.post("/api/definitions", HELLO, expect=201)

    assert (await api.post("/api/definitions/hello/execute", expect=409))["code"] == "definition.not_published"
    assert (await api.post("/api/definitions/nobody/execute", expect=404))["code"] == "definition.not_found"
    assert (await api.post("/api/definitions/hello/execute", {"version": "latest"}))["status"] == "finished"


async def test_an_instance_that_waits_shows_what_for_and_is_resumed(ready: Caller) -> None:
    started = await ready.post("/api/definitions/waiting/execute")
    name = started["instance_id"]
    assert started["status"] == "suspended"

    seen = await ready.get(f"/api/instances/{name}")
    assert seen["waiting_for"] == "the event 'answered' (at 'wait')"
    (mark,) = seen["state"]["bookmarks"]
    assert (mark["activity_id"], mark["name"]) == ("wait", "Event")
    assert {item["activity_id"]: item["waits_for"] for item in seen["state"]["activities"]}["wait"] == "bookmark"
    assert seen["definition"]["id"] == "waiting"

    done = await ready.post(f"/api/instances/{name}/resume", {"bookmark_id": mark["id"], "payload": {"yes": True}})
    assert (done["status"], done["outputs"]) == ("finished", {"said": {"yes": True}})
    assert done["position"] > seen["position"]
    late = await ready.post(f"/api/instances/{name}/resume", {"bookmark_id": mark["id"]}, expect=409)
    assert late["code"] == "instance.ended"


async def test_a_link_resumes_without_signing_in_and_only_once(ready: Caller) -> None:
    started = await ready.post("/api/definitions/waiting/execute")
    link = started["bookmarks"][0]["resume_url"].partition("/api/")[2]

    assert (await ready.post(f"/api/{link}", {"by": "link"}))["outputs"] == {"said": {"by": "link"}}
    used = await ready.post(f"/api/{link}", expect=404)
    assert used["code"] == "link.gone"
    assert started["instance_id"] not in str(used)
    forged = link[:-2] + ("AA" if not link.endswith("AA") else "BB")
    assert (await ready.get(f"/api/{forged}", expect=401))["code"] == "access.not_signed_in"


async def test_opening_a_link_changes_nothing_and_its_button_resumes(ready: Caller) -> None:
    started = await ready.post("/api/definitions/waiting/execute")
    path = "/api/" + started["bookmarks"][0]["resume_url"].partition("/api/")[2]

    for method in ("GET", "GET"):
        page = await ready.ask(method, path)
        assert (page.status, page.headers["Referrer-Policy"]) == (200, "no-referrer")
        assert b'<form method="post">' in page.body
        assert started["instance_id"].encode() not in page.body
    assert (await ready.get(f"/api/instances/{started['instance_id']}"))["status"] == "suspended"

    browser = {"Accept": "text/html,*/*", "Content-Type": "application/x-www-form-urlencoded"}
    pressed = await ready.ask("POST", path, data=b"", headers=browser)
    assert (pressed.status, pressed.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (await ready.get(f"/api/instances/{started['instance_id']}"))["status"] == "finished"


async def test_a_link_with_a_deep_body_is_the_callers_fault(ready: Caller) -> None:
    started = await ready.post("/api/definitions/waiting/execute")
    path = "/api/" + started["bookmarks"][0]["resume_url"].partition("/api/")[2]

    answer = await ready.ask("POST", path, data=b"[" * 100_000, headers={"Content-Type": "application/json"})

    assert (answer.status, answer.body["code"]) == (400, "json.too_deep")


async def test_an_event_wakes_whoever_waits_for_it(ready: Caller) -> None:
    names = [(await ready.post("/api/definitions/waiting/execute"))["instance_id"] for _ in range(2)]

    receipt = await ready.post("/api/events/answered", {"payload": 7}, expect=202)

    assert receipt["stimulus_id"]
    for name in names:
        found = await ready.until(f"/api/instances/{name}", lambda item: item["status"] == "finished")
        assert found["state"]["outputs"] == {"said": 7}


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
async def test_an_event_of_another_shape_is_refused(serve: Serve, headers: dict[str, str]) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[signing]))
    name = (await api.post("/api/definitions/signing/execute"))["instance_id"]

    body = {"payload": {"by": "Ada", "pages": "many"}, "instance_id": name}
    refused = await api.ask("POST", "/api/events/Signature", body, headers=headers)

    assert (refused.status, refused.body["code"]) == (422, "payload.refused")
    assert [item["path"] for item in refused.body["errors"]] == ["/pages"]
    resumed = await api.ask("POST", f"/api/instances/{name}/resume", {"payload": {"by": "Ada", "pages": 2}})
    assert resumed.body["outputs"] == {"result": 2}


async def test_a_stimulus_that_nobody_takes_is_explained(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]

    fits = await ready.post("/api/stimuli/explain", {"type": "Event", "name": "answered"})
    differs = await ready.post("/api/stimuli/explain", {"type": "Event", "name": "answerd"})

    assert fits["resumes"] == [f"{name}#b1"]
    assert differs["resumes"] == []
    assert differs["near"][0]["differs"] == [
        {"path": "payload.event_name", "waits_for": "answered", "given": "answerd"}
    ]


async def test_journal_executions_and_timeline_tell_the_same_story(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]
    await ready.post(f"/api/instances/{name}/resume", {"payload": "x"})

    journal = await ready.get(f"/api/instances/{name}/journal")
    events = [(entry["event"], entry["activity_id"]) for entry in journal["entries"]]
    assert events[0] == ("instance_started", None)
    assert events[-1] == ("instance_finished", None)
    assert ("suspended", "wait") in events
    sequences = [entry["sequence"] for entry in journal["entries"]]
    assert sequences == sorted(set(sequences))
    first = await ready.get(f"/api/instances/{name}/journal?limit=1")
    rest = await ready.get(f"/api/instances/{name}/journal?after={first['next']}")
    assert first["entries"] + rest["entries"] == journal["entries"]

    executions = await ready.get(f"/api/instances/{name}/executions")
    assert executions["stats"]["wait"] == {"completed": 1}
    one = await ready.get(f"/api/instances/{name}/executions?activity_id=wait")
    assert [item["status"] for item in one["items"]] == ["completed"]
    timeline = await ready.get(f"/api/instances/{name}/timeline")
    assert {span["activity_id"] for span in timeline["spans"]} >= {"main", "wait", "say"}


async def test_an_incident_is_shown_with_its_activity(ready: Caller) -> None:
    failed = await ready.post("/api/definitions/failing/execute")

    assert failed["status"] == "faulted"
    assert failed["incidents"][0]["message"] == "on purpose"
    listed = await ready.get(f"/api/instances/{failed['instance_id']}/incidents")
    assert [(item["activity_id"], item["open"]) for item in listed] == [("fail", True)]
    everywhere = (await ready.get("/api/incidents"))[0]
    assert everywhere["instance_id"] == failed["instance_id"]
    assert (everywhere["activity_type"], everywhere["execution_id"]) == (
        "Fault",
        failed["incidents"][0]["execution_id"],
    )


async def test_an_incident_says_what_its_activity_was_given(ready: Caller) -> None:
    """Whoever retries an effect with other inputs begins with those that it had."""
    call = {"type": "SendHttpRequest", "id": "call", "name": "Call", "inputs": {"url": "http://127.0.0.1:1/nobody"}}
    await ready.post("/api/definitions", {"format": "holdfast/definition@1", "id": "calling", "root": call}, expect=201)
    failed = await ready.post("/api/definitions/calling/execute", {"version": "latest"})

    (listed,) = await ready.get(f"/api/instances/{failed['instance_id']}/incidents")

    assert (listed["activity_type"], listed["activity_name"]) == ("SendHttpRequest", "Call")
    assert listed["inputs"]["url"] == "http://127.0.0.1:1/nobody"


async def test_every_sort_of_the_list_pages(ready: Caller) -> None:
    for number in range(5):
        await ready.post("/api/definitions/hello/execute", {"name": f"n{number % 2}", "correlation_id": f"c{number}"})

    for column in InstanceSort:
        for sign in ("", "-"):
            seen: list[str] = []
            cursor = ""
            while True:
                page = await ready.get(f"/api/instances?limit=2&sort={sign}{column}{cursor}")
                assert page["total"] is None
                seen += [row["id"] for row in page["items"]]
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
            assert len(seen) == len(set(seen)) == 5, column
    assert (await ready.get("/api/instances?limit=2&total=true"))["total"] == 5


async def test_filters_and_counts_agree(ready: Caller) -> None:
    await ready.post("/api/definitions/hello/execute", {"correlation_id": "abc"})
    await ready.post("/api/definitions/waiting/execute")
    await ready.post("/api/definitions/failing/execute")

    counts = await ready.get("/api/instances/counts")
    assert counts == {"by_status": {"finished": 1, "suspended": 1, "faulted": 1}, "total": 3}
    for query, expected in (
        ("status=finished&status=suspended", {"hello", "waiting"}),
        ("definition_id=failing", {"failing"}),
        ("has_incidents=true", {"failing"}),
        ("search=ABC", {"hello"}),
        ("correlation_id=abc", {"hello"}),
        ("created_after=2999-01-01T00:00:00Z", set()),
    ):
        page = await ready.get(f"/api/instances?total=true&{query}")
        assert {item["definition_id"] for item in page["items"]} == expected, query
        assert page["total"] == len(expected)
    await ready.get("/api/instances?status=nothing", expect=422)
    await ready.get("/api/instances?created_after=2026-01-01T00:00:00", expect=422)


async def test_a_list_asked_with_a_position_has_seen_it(ready: Caller) -> None:
    done = await ready.post("/api/definitions/hello/execute")

    seen = await ready.get(f"/api/instances?position={done['instance_id']}:{done['position']}")
    later = await ready.get(f"/api/instances?position={done['instance_id']}:{done['position'] + 5}")

    assert (seen["stale"], later["stale"]) == (False, True)
    await ready.get("/api/instances?position=rubbish", expect=422)


async def test_cancel_then_delete(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]

    assert (await ready.delete(f"/api/instances/{name}", expect=409))["code"] == "instance.not_deletable"
    canceled = await ready.post(f"/api/instances/{name}/cancel", {"why": "no longer wanted"})
    assert canceled["status"] == "canceled"
    await ready.delete(f"/api/instances/{name}")
    assert (await ready.get(f"/api/instances/{name}", expect=404))["code"] == "instance.not_found"


async def test_an_exported_instance_goes_on_elsewhere(ready: Caller, serve: Any) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]
    exported = await ready.get(f"/api/instances/{name}/export")
    other = await serve()

    imported = await other.post("/api/instances/import", exported, expect=201)

    assert imported["id"] == name
    done = await other.post(f"/api/instances/{name}/resume", {"payload": 1})
    assert done["outputs"] == {"said": 1}
    assert (await other.post("/api/instances/import", exported, expect=409))["code"] == "already_stored"
    await other.post("/api/instances/import", {"nothing": 1}, expect=422)


async def test_bookmarks_of_all_and_of_one(ready: Caller) -> None:
    names = {(await ready.post("/api/definitions/waiting/execute"))["instance_id"] for _ in range(3)}

    everything = await ready.get("/api/bookmarks?total=true")
    one = await ready.get(f"/api/bookmarks?instance_id={min(names)}")

    assert {item["instance_id"] for item in everything["items"]} == names
    assert everything["total"] == 3
    assert one["items"][0]["created"] is not None
    await ready.get("/api/bookmarks?instance_id=nobody", expect=404)


async def test_bookmarks_of_a_name_are_looked_for_a_part_at_a_time(
    ready: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookmarks, "INSTANCES_MAX", 3)
    names = [(await ready.post("/api/definitions/waiting/execute"))["instance_id"] for _ in range(7)]
    name = (await ready.get("/api/bookmarks?limit=1"))["items"][0]["name"]

    nothing = await _pages(ready, "/api/bookmarks?limit=2&name=Nothing")
    found = await _pages(ready, f"/api/bookmarks?limit=2&name={name}")

    assert [page["items"] for page in nothing] == [[], [], []]  # Of three instances each, and of the last one.
    assert {page["total"] for page in (*nothing, *found)} == {None}
    assert sorted(item["instance_id"] for page in found for item in page["items"]) == sorted(names)
    assert (await ready.get(f"/api/bookmarks?instance_id={names[0]}&name=Nothing"))["total"] == 0


async def _pages(api: Caller, path: str) -> list[Any]:
    pages = [await api.get(path)]
    while pages[-1]["next"] is not None:
        pages.append(await api.get(f"{path}&cursor={pages[-1]['next']}"))
    return pages


async def test_what_is_too_large_or_no_json_is_refused(ready: Caller) -> None:
    limit = ready.engine.settings.request_bytes_max

    large = await ready.ask("POST", "/api/definitions/hello/execute", data=io.BytesIO(b"x" * (limit + 1)))
    broken = await ready.ask(
        "POST", "/api/definitions/hello/execute", data=b"{", headers={"Content-Type": "application/json"}
    )

    assert (large.status, large.body["code"]) == (413, "body.too_large")
    assert broken.status == 422


async def test_what_failed_is_retried_and_the_journal_says_by_whom(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/failing/execute"))["instance_id"]

    again = await ready.post(f"/api/instances/{name}/retry", {"why": "the cause is mended"})

    assert again["status"] == "faulted"
    entries = (await ready.get(f"/api/instances/{name}/journal"))["entries"]
    (told,) = [entry["data"] for entry in entries if entry["event"] == "operated"]
    assert (told["who"], told["why"]) == ("local", "the cause is mended")
    skipped = await ready.post(f"/api/instances/{name}/skip", {"activity_id": "fail"})
    assert skipped["status"] == "finished"


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k1"}], ids=["without a key", "with a key"])
@pytest.mark.parametrize("named", [True, False])
async def test_the_journal_says_who_resumed(ready: Caller, headers: dict[str, str], named: bool) -> None:
    started = await ready.post("/api/definitions/waiting/execute")
    name, (mark,) = started["instance_id"], started["bookmarks"]
    body = {"payload": 1, **({"bookmark_id": mark["id"]} if named else {})}

    await ready.post(f"/api/instances/{name}/resume", body, headers=headers)
    if headers:
        again = await ready.post(f"/api/instances/{name}/resume", body, headers=headers)
        assert again["status"] == "finished"

    entries = (await ready.get(f"/api/instances/{name}/journal"))["entries"]
    (told,) = [entry["data"] for entry in entries if entry["event"] == "operated"]
    assert told == {"verb": "resume", "who": "local", "bookmark": mark["id"]}


async def test_many_are_canceled_by_filter(ready: Caller) -> None:
    for _ in range(3):
        await ready.post("/api/definitions/waiting/execute")
    await ready.post("/api/definitions/hello/execute")

    result = await ready.post(
        "/api/instances/bulk", {"action": "cancel", "filter": {"definition_id": ["waiting"]}, "why": "test"}
    )

    assert (result["changed"], result["failed"]) == (3, [])
    assert (await ready.get("/api/instances/counts"))["by_status"] == {"canceled": 3, "finished": 1}
    gone = await ready.post("/api/instances/bulk", {"action": "delete", "filter": {"status": ["canceled"]}})
    assert gone["changed"] == 3
    assert (await ready.post("/api/instances/bulk", {"action": "cancel"}, expect=422))["code"] == "bulk.nothing"


async def test_many_are_chosen_by_any_of_their_times(ready: Caller) -> None:
    await ready.post("/api/definitions/hello/execute")
    await ready.post("/api/definitions/waiting/execute")

    async def deleted(**times: str) -> int:
        answer = await ready.post("/api/instances/bulk", {"action": "delete", "filter": times})
        changed: int = answer["changed"]
        return changed

    assert await deleted(finished_before="2000-01-01T00:00:00Z") == 0
    assert await deleted(updated_before="2000-01-01T00:00:00Z") == 0
    assert await deleted(finished_after="2000-01-01T00:00:00Z") == 1
    assert (await ready.get("/api/instances/counts"))["by_status"] == {"suspended": 1}


async def test_a_variable_is_changed_in_a_living_instance(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]

    changed = await ready.patch(f"/api/instances/{name}/variables", {"variables": {"answer": "set by hand"}})

    assert changed["position"] > 1
    assert (await ready.get(f"/api/instances/{name}"))["state"]["variables"] == {"answer": "set by hand"}
    wrong = await ready.patch(f"/api/instances/{name}/variables", {"variables": {"nothing": 1}}, expect=422)
    assert wrong["code"] == "variable.not_found"
    refused = await ready.post(f"/api/instances/{name}/alter", {"alterations": [{"type": "fly"}]}, expect=409)
    assert "not an alteration" in refused["detail"]


async def test_many_are_altered_by_a_plan_that_was_tried_first(ready: Caller) -> None:
    names = {(await ready.post("/api/definitions/waiting/execute"))["instance_id"] for _ in range(3)}
    body = {
        "filter": {"definition_id": ["waiting"]},
        "alterations": [{"type": "modify_variable", "variable": "answer", "value": 5}],
    }

    tried = await ready.post("/api/alterations", {**body, "dry_run": True}, expect=202)
    assert (tried["total"], tried["fates"]) == (3, {"applies": 3})
    assert {item["instance_id"] for item in tried["results"]} == names

    plan = await ready.post("/api/alterations", {**body, "why": "a test"}, expect=202)
    done = await ready.until(f"/api/alterations/{plan['id']}", lambda item: item["state"] == "completed")
    assert (done["altered"], done["failed"], done["who"], done["why"]) == (3, 0, "local", "a test")
    for name in names:
        assert (await ready.get(f"/api/instances/{name}"))["state"]["variables"] == {"answer": 5}
    assert (await ready.get("/api/alterations"))["total"] == 1
    await ready.get("/api/alterations/nothing", expect=404)
    await ready.post("/api/alterations", {"alterations": [{"type": "cancel"}]}, expect=422)


async def test_a_fork_goes_on_by_itself(ready: Caller) -> None:
    name = (await ready.post("/api/definitions/waiting/execute"))["instance_id"]

    made = await ready.post(f"/api/instances/{name}/fork", expect=201)

    assert made["id"] != name
    assert (await ready.post(f"/api/instances/{made['id']}/resume", {"payload": 1}))["status"] == "finished"
    assert (await ready.get(f"/api/instances/{name}"))["status"] == "suspended"


@pytest.mark.parametrize("way", ["execute", "dispatch"])
async def test_properties_are_given_at_the_start_and_shown(ready: Caller, way: str) -> None:
    answer = await ready.ask(
        "POST", f"/api/definitions/waiting/{way}", {"instance_id": way, "properties": {"by": "ada"}}
    )
    assert answer.status < 300, answer.body

    found = await ready.get(f"/api/instances/{way}")

    assert found["state"]["properties"] == {"by": "ada"}
