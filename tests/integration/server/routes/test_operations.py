"""Descriptors, tasks, schedules, nodes, settings, statistics, previews, health."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.engine import Holdfast
from holdfast.model.commit import Commit
from holdfast.model.work import DeadLetterRow, WorkRow
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import FAILING, HELLO, WAITING

TASK: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "asking",
    "outputs": [{"name": "answer"}],
    "variables": [{"name": "given"}],
    "root": {
        "type": "Sequence",
        "id": "main",
        "activities": [
            {
                "type": "HumanTask",
                "id": "ask",
                "inputs": {
                    "title": "Approve it?",
                    "form": {
                        "$literal": {
                            "type": "object",
                            "properties": {"approved": {"type": "boolean"}},
                            "required": ["approved"],
                        }
                    },
                },
                "outputs": {"result": "given"},
            },
            {"type": "SetOutput", "id": "say", "inputs": {"name": "answer", "value": {"$variable": "given"}}},
        ],
    },
}

EACH_NIGHT: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "nightly",
    "root": {
        "type": "Sequence",
        "id": "main",
        "activities": [
            {
                "type": "Cron",
                "id": "night",
                "inputs": {"expression": "0 3 * * *", "zone": "Europe/Berlin"},
                "options": {"can_start": True},
            },
            {"type": "WriteLine", "id": "line", "inputs": {"text": "night"}},
        ],
    },
}


async def published(api: Caller, document: dict[str, Any]) -> None:
    await api.post("/api/definitions", document, expect=201)
    await api.post(f"/api/definitions/{document['id']}/publish")


# -- descriptors -------------------------------------------------------------------------------------------------------


async def test_every_activity_describes_itself(api: Caller) -> None:
    found = {item["type"]: item for item in (await api.get("/api/descriptors/activities"))["items"]}

    assert found.keys() == api.engine.descriptors.keys()
    line = found["WriteLine"]
    assert line["display_name"] == "Write line"
    assert line["inputs"][0]["schema"] is not None
    assert await api.get("/api/descriptors/activities/WriteLine") == line
    await api.get("/api/descriptors/activities/Nothing", expect=404)


async def test_languages_types_and_strategies(api: Caller) -> None:
    languages = {item["language"] for item in (await api.get("/api/descriptors/expressions"))["items"]}
    types = {item["name"] for item in (await api.get("/api/descriptors/variable-types"))["items"]}
    strategies = await api.get("/api/descriptors/strategies")

    assert {"python", "javascript", "liquid"} <= languages
    assert {"string", "datetime", "list"} <= types
    assert [item["name"] for item in strategies["activation"]][:2] == ["always", "singleton"]
    assert [item["name"] for item in strategies["commit"]] == [
        "workflow_executing", "workflow_executed", "activity_executing", "activity_executed", "periodic",
        "always", "never", "executing", "executed",
    ]  # fmt: skip
    assert all(item["description"] for item in strategies["commit"])


# -- people ------------------------------------------------------------------------------------------------------------


async def test_a_task_is_claimed_refused_and_completed(api: Caller) -> None:
    await published(api, TASK)
    name = (await api.post("/api/definitions/asking/execute"))["instance_id"]

    page = await api.get("/api/tasks?mine=true")
    (task,) = page["items"]
    assert (task["title"], task["state"], task["instance_id"]) == ("Approve it?", "open", name)
    assert (await api.post(f"/api/tasks/{task['id']}/claim"))["claimed_by"] == "local"
    refused = await api.post(f"/api/tasks/{task['id']}/complete", {"answer": {"approved": "yes"}}, expect=422)
    assert refused["code"] == "task.answer_refused"
    assert refused["errors"][0]["path"] == "/approved"

    done = await api.post(f"/api/tasks/{task['id']}/complete", {"answer": {"approved": True}})

    assert done["state"] == "completed"
    ended = await api.until(f"/api/instances/{name}", lambda item: item["status"] == "finished")
    assert ended["state"]["outputs"] == {"answer": {"approved": True}}
    assert (await api.get("/api/tasks"))["items"] == []
    assert (await api.get("/api/tasks?state=completed"))["total"] == 1
    await api.get("/api/tasks/nothing", expect=404)


async def test_tasks_schedules_and_triggers_tell_what_people_call_their_workflow(api: Caller) -> None:
    await published(api, {**TASK, "name": "Ask somebody"})
    await api.post("/api/definitions/asking/execute", {"input": {}})
    (task,) = (await api.get("/api/tasks"))["items"]
    assert task["definition_name"] == "Ask somebody"
    assert (await api.post(f"/api/tasks/{task['id']}/claim"))["definition_name"] == "Ask somebody"

    cron = {**EACH_NIGHT["root"]["activities"][0], "name": "At night"}
    root = {**EACH_NIGHT["root"], "activities": [cron, *EACH_NIGHT["root"]["activities"][1:]]}
    await published(api, {**EACH_NIGHT, "name": "Nightly report", "root": root})
    for resource in ("schedules", "triggers"):
        (item,) = (await api.get(f"/api/{resource}"))["items"]
        assert (item["definition_name"], item["activity_name"]) == ("Nightly report", "At night")


async def test_what_has_no_name_goes_by_its_id(api: Caller) -> None:
    await published(api, EACH_NIGHT)

    (item,) = (await api.get("/api/schedules"))["items"]

    assert (item["definition_name"], item["activity_name"]) == ("nightly", None)


# -- time --------------------------------------------------------------------------------------------------------------


async def test_a_schedule_is_seen_paused_and_run_now(api: Caller) -> None:
    await published(api, EACH_NIGHT)

    (item,) = (await api.get("/api/schedules"))["items"]
    assert (item["definition_id"], item["type"], item["zone"]) == ("nightly", "Cron", "Europe/Berlin")
    times = (await api.get(f"/api/schedules/{item['id']}/next?count=3"))["times"]
    assert times == sorted(times)
    assert len(times) == 3
    assert (await api.post(f"/api/schedules/{item['id']}/pause"))["paused"] is True
    assert (await api.get("/api/schedules"))["items"][0]["due"] is None
    assert (await api.post(f"/api/schedules/{item['id']}/resume"))["due"] is not None
    name = (await api.post(f"/api/schedules/{item['id']}/run"))["instance_id"]
    await api.until(f"/api/instances/{name}", lambda found: found["status"] == "finished")
    assert (await api.get("/api/triggers"))["items"][0]["type"] == "Cron"
    await api.post("/api/schedules/nothing/run", expect=404)


async def test_a_cron_expression_is_tried_before_it_is_saved(api: Caller) -> None:
    found = await api.get("/api/schedules/preview", params={"cron": "*/15 * * * *", "count": "4"})

    assert [moment[14:16] in {"00", "15", "30", "45"} for moment in found["times"]] == [True] * 4
    wrong = await api.get("/api/schedules/preview", params={"cron": "every day"}, expect=422)
    assert wrong["code"] == "cron.invalid"


# -- operators ---------------------------------------------------------------------------------------------------------


async def test_dead_letters_are_shown_replayed_and_discarded(api: Caller) -> None:
    now = datetime.now(UTC)
    store = api.app.backend.store
    letters = [
        DeadLetterRow(
            work=WorkRow(id=f"w{number}", kind="start", queue="nobody", created=now), reason="attempts", died=now
        )
        for number in range(2)
    ]
    await store.commit([Commit(burst_id="b", dead_letters=tuple(letters))])

    page = await api.get("/api/dead-letters")
    assert {item["id"] for item in page["items"]} == {"w0", "w1"}
    assert (await api.post("/api/dead-letters/replay", {"ids": ["w0", "nothing"]}))["count"] == 1
    assert (await api.post("/api/dead-letters/discard", {"ids": ["w1"]}))["count"] == 1
    assert (await api.get("/api/dead-letters?total=true"))["total"] == 0


async def test_nodes_say_which_one_answers(api: Caller) -> None:
    found = await api.get("/api/nodes")

    assert [(item["this"], item["alive"]) for item in found["items"]] == [(True, True)]
    await api.post("/api/nodes/this/pause", expect=204)
    assert (await api.get("/api/nodes"))["items"][0]["paused"] is True
    await api.post("/api/nodes/this/resume", expect=204)


async def test_settings_show_no_secret(serve: Serve) -> None:
    engine = Holdfast(
        store="memory://", entry_points=False, admin_password="quite-secret-1", auth_secret="x" * 40, threads_max=7
    )
    api = await serve(engine)

    found = {item["name"]: item for item in await api.get("/api/settings")}

    assert found["threads_max"]["value"] == 7
    assert found["admin_password"]["secret"] is True
    assert "quite-secret" not in str(found)
    assert "xxxx" not in str(found)


async def test_statistics_count_what_happened(api: Caller) -> None:
    for document in (HELLO, WAITING, FAILING):
        await published(api, document)
    for _ in range(3):
        await api.post("/api/definitions/hello/execute")
    await api.post("/api/definitions/waiting/execute")
    await api.post("/api/definitions/failing/execute")

    found = await api.get("/api/statistics?range=24h")

    assert found["by_status"] == {"finished": 3, "suspended": 1, "faulted": 1}
    assert sum(point["started"] for point in found["throughput"]) == 5
    assert sum(point["finished"] for point in found["throughput"]) == 3
    assert len(found["throughput"]) in {24, 25}
    assert found["durations"]["samples"] == 3
    assert found["by_definition"][0]["definition_id"] == "failing"
    assert found["oldest_waiting"]["definition_id"] == "waiting"
    assert [item["kind"] for item in found["needs_attention"]] == ["incident"]
    assert (await api.get("/api/statistics?range=30d"))["interval"] == "day"
    await api.get("/api/statistics?range=forever", expect=422)


# -- trying out --------------------------------------------------------------------------------------------------------


async def test_an_expression_is_previewed_with_values(api: Caller) -> None:
    asked = {"language": "python", "expression": "total * 2", "variables": {"total": 21}}
    assert (await api.post("/api/preview", asked))["value"] == 42
    wrong = await api.post("/api/preview", {"language": "python", "expression": "total *"})
    assert wrong["value"] is None
    assert wrong["error"]
    refused = await api.post("/api/preview", {"language": "code", "expression": "1"})
    assert "Trusted code" in refused["error"]


async def test_an_expression_is_previewed_with_the_values_of_an_instance(api: Caller) -> None:
    await published(api, HELLO)
    name = (await api.post("/api/definitions/hello/execute", {"input": {"who": "Ann"}}))["instance_id"]

    found = await api.post("/api/preview", {"language": "python", "expression": "who.upper()", "instance_id": name})

    assert found["value"] == "ANN"


async def test_one_activity_is_tried_by_itself(api: Caller) -> None:
    found = await api.post(
        "/api/test-activity",
        {"activity": {"type": "WriteLine", "inputs": {"text": {"$python": "'x' * n"}}}, "variables": {"n": 3}},
    )

    assert (found["status"], found["lines"]) == ("finished", ["xxx"])


# -- health ------------------------------------------------------------------------------------------------------------


async def test_load_balancers_may_ask_with_head(serve: Serve, tmp_path: Path) -> None:
    api = await serve(Holdfast(store=f"sqlite:///{tmp_path}/h.db", entry_points=False))
    for path in ("/health", "/health/ready"):
        got, asked = await api.ask("GET", path), await api.ask("HEAD", path)
        assert (asked.status, asked.body) == (200, b"")
        assert asked.headers["Content-Length"] == got.headers["Content-Length"]

    await api.app.backend.store.close()
    assert (await api.ask("HEAD", "/health/ready")).status == 503
    assert (await api.ask("HEAD", "/health")).status == 200
    await api.app.backend.store.open()


async def test_health_is_open_and_readiness_has_reasons(serve: Serve, tmp_path: Path) -> None:
    api = await serve(Holdfast(store=f"sqlite:///{tmp_path}/h.db", entry_points=False))
    assert (await api.get("/health"))["status"] == "ok"
    assert await api.get("/health/ready") == {**await api.get("/health"), "reasons": [], "warnings": []}

    await api.app.backend.store.close()
    answer = await api.ask("GET", "/health/ready")

    assert answer.status == 503
    assert answer.body["reasons"]
    refused = await api.ask("GET", "/api/instances")
    assert refused.status == 503
    for said in (answer, refused):
        assert str(tmp_path) not in str(said.body)
        assert "h.db" not in str(said.body)
    await api.app.backend.store.open()
