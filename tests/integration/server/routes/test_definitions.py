"""Definitions over REST: drafts, versions, publishing, lost updates, diff, files."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from copy import deepcopy
from typing import Any

import aiohttp
import pytest
import yarl

from tests.integration.server.conftest import Caller
from tests.support.server_documents import HELLO, WAITING


async def created(api: Caller, document: dict[str, Any] = HELLO) -> Any:
    return await api.post("/api/definitions", document, expect=201)


def renamed(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**deepcopy(document), **changes}


async def test_a_definition_is_created_as_a_draft_and_published(api: Caller) -> None:
    made = await created(api)

    assert made["summary"]["id"] == "hello"
    assert made["summary"]["has_draft"] is True
    assert made["summary"]["published_version"] is None

    published = await api.post("/api/definitions/hello/publish")
    assert published["summary"]["published_version"] == 1
    assert published["live_instances"] == 0

    page = await api.get("/api/definitions")
    assert [(item["id"], item["is_published"]) for item in page["items"]] == [("hello", True)]
    assert page["total"] == 1
    assert page["next"] is None


async def test_a_lost_update_is_412_and_changes_nothing(api: Caller) -> None:
    first = (await created(api))["etag"]
    await api.put("/api/definitions/hello", renamed(HELLO, name="Second"), headers={"If-Match": first})

    lost = await api.put(
        "/api/definitions/hello", renamed(HELLO, name="Third"), headers={"If-Match": first}, expect=412
    )

    assert lost["code"] == "definition.changed"
    assert (await api.get("/api/definitions/hello"))["document"]["name"] == "Second"


async def test_two_people_who_only_move_cards_do_not_lose_each_others_places(api: Caller) -> None:
    first = (await created(api))["etag"]
    saved = await api.put("/api/definitions/hello", placed(HELLO, 8, 16), headers={"If-Match": first})

    lost = await api.put("/api/definitions/hello", placed(HELLO, 80, 16), headers={"If-Match": first}, expect=412)

    assert saved["etag"] != first
    assert lost["code"] == "definition.changed"
    root = (await api.get("/api/definitions/hello"))["document"]["root"]
    assert root["metadata"]["position"] == {"x": 8, "y": 16}


def placed(document: dict[str, Any], x: int, y: int) -> dict[str, Any]:
    return {**document, "root": {**document["root"], "metadata": {"position": {"x": x, "y": y}}}}


async def test_the_etag_is_in_the_header_and_saves_a_download(api: Caller) -> None:
    etag = (await created(api))["etag"]

    answer = await api.ask("GET", "/api/definitions/hello")
    again = await api.ask("GET", "/api/definitions/hello", headers={"If-None-Match": etag})

    assert answer.headers["ETag"] == etag
    assert (again.status, again.body) == (304, b"")


async def test_saving_over_a_published_version_begins_the_next_one(api: Caller) -> None:
    await created(api)
    await api.post("/api/definitions/hello/publish")

    saved = await api.put("/api/definitions/hello", renamed(HELLO, name="Next"))

    assert saved["summary"]["version"] == 2
    assert saved["summary"]["published_version"] == 1
    versions = await api.get("/api/definitions/hello/versions")
    assert [item["version"] for item in versions["items"]] == [2, 1]
    assert (await api.get("/api/definitions/hello?version=published"))["document"]["name"] == "Hello"
    assert (await api.get("/api/definitions/hello/versions/2"))["document"]["name"] == "Next"


async def test_revert_retract_and_delete(api: Caller) -> None:
    await created(api)
    await api.post("/api/definitions/hello/publish")
    await api.put("/api/definitions/hello", renamed(HELLO, name="Next"))
    await api.post("/api/definitions/hello/publish")

    reverted = await api.post("/api/definitions/hello/revert", {"version": 1})
    assert (reverted["summary"]["version"], reverted["document"]["name"]) == (3, "Hello")
    assert (await api.post("/api/definitions/hello/retract"))["published_version"] is None
    assert (await api.post("/api/definitions/hello/retract", expect=409))["code"] == "definition.not_published"
    await api.delete("/api/definitions/hello/versions/3")
    await api.get("/api/definitions/hello/versions/3", expect=404)
    await api.delete("/api/definitions/hello")
    assert (await api.get("/api/definitions/hello", expect=404))["code"] == "definition.not_found"


async def test_a_second_create_is_409(api: Caller) -> None:
    await created(api)

    assert (await api.post("/api/definitions", HELLO, expect=409))["code"] == "definition.exists"


async def test_of_many_who_create_the_same_one_does(api: Caller) -> None:
    made = await asyncio.gather(*(api.ask("POST", "/api/definitions", HELLO) for _ in range(5)))
    copied = await asyncio.gather(
        *(api.ask("POST", "/api/definitions/hello/duplicate", {"id": "copy"}) for _ in range(5))
    )

    for answers in (made, copied):
        assert sorted(answer.status for answer in answers) == [201, 409, 409, 409, 409]
        assert {answer.body["code"] for answer in answers if answer.status == 409} == {"definition.exists"}


@pytest.mark.parametrize("name", ["注文", "a b", "a\r\nX-Evil: 1", "100%"])
async def test_where_a_definition_is_can_be_followed_whatever_it_is_called(api: Caller, name: str) -> None:
    answer = await api.ask("POST", "/api/definitions", renamed(HELLO, id=name))

    assert answer.status == 201
    assert "X-Evil" not in answer.headers
    async with api.session.get(yarl.URL(api.url + answer.headers["Location"], encoded=True)) as found:
        assert (await found.json())["summary"]["id"] == name


async def test_problems_of_a_document_name_their_activity(api: Caller) -> None:
    broken = renamed(HELLO)
    broken["root"]["activities"][0]["type"] = "NoSuchThing"

    found = await api.post("/api/definitions/validate", broken)

    assert [item["activity_id"] for item in found["problems"] if item["code"] == "unknown-type"] == ["greet"]
    await api.post("/api/definitions", broken, expect=201)
    refused = await api.post("/api/definitions/hello/publish", expect=422)
    assert refused["code"] == "definition.invalid"
    assert refused["errors"]


async def test_what_differs_between_two_versions(api: Caller) -> None:
    await created(api)
    await api.post("/api/definitions/hello/publish")
    changed = renamed(HELLO)
    changed["root"]["activities"][0]["inputs"]["value"] = {"$python": "'Hi ' + who"}
    changed["root"]["activities"].append({"type": "WriteLine", "id": "line", "inputs": {"text": "done"}})
    await api.put("/api/definitions/hello", changed)

    diff = await api.get("/api/definitions/hello/diff?from=1&to=2")

    assert {(item["id"], item["change"]) for item in diff["activities"]} == {("greet", "changed"), ("line", "added")}


async def test_the_graph_shows_nodes_and_edges(api: Caller) -> None:
    await created(api, WAITING)

    graph = await api.get("/api/definitions/waiting/graph")

    assert [node["id"] for node in graph["nodes"]] == ["main", "wait", "say"]
    assert [(edge["source"], edge["target"]) for edge in graph["edges"]] == [("wait", "say")]


async def test_labels_and_folders_are_filters_and_make_no_version(api: Caller) -> None:
    await created(api)
    await created(api, WAITING)

    filed = await api.put("/api/definitions/hello/labels", {"labels": ["demo"], "folder": "team/a"})

    assert (filed["labels"], filed["folder"], filed["version"]) == (["demo"], "team/a", 1)
    for query in ("label=demo", "folder=team", "search=hell"):
        found = await api.get(f"/api/definitions?{query}")
        assert [item["id"] for item in found["items"]] == ["hello"], query
    assert [item["id"] for item in (await api.get("/api/definitions?state=published"))["items"]] == []


async def test_every_column_sorts_and_cursors_go_through_all(api: Caller) -> None:
    for number in range(5):
        await created(api, renamed(HELLO, id=f"d{number}", name=f"Name {number % 2}"))
    columns = (await api.get("/api/definitions"))["items"][0].keys()

    for column in columns:
        for sign in ("", "-"):
            seen: list[str] = []
            cursor = ""
            while True:
                page = await api.get(f"/api/definitions?limit=2&sort={sign}{column}{cursor}")
                seen += [item["id"] for item in page["items"]]
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
            assert sorted(seen) == [f"d{number}" for number in range(5)], column
    assert (await api.get("/api/definitions?sort=nothing", expect=422))["code"] == "sort.unknown"
    assert (await api.get("/api/definitions?cursor=rubbish", expect=422))["code"] == "cursor.invalid"


async def test_many_at_once_succeed_or_fail_on_their_own(api: Caller) -> None:
    await created(api)

    result = await api.post("/api/definitions/bulk", {"action": "publish", "ids": ["hello", "nobody"]})

    assert result["done"] == ["hello"]
    assert [(item["id"], item["code"]) for item in result["failed"]] == [("nobody", "definition.not_found")]


async def test_a_copy_has_its_own_id(api: Caller) -> None:
    await created(api)

    copy = await api.post("/api/definitions/hello/duplicate", {"id": "hello2", "name": "Copy"}, expect=201)

    assert (copy["summary"]["id"], copy["document"]["name"]) == ("hello2", "Copy")
    await api.post("/api/definitions/hello/duplicate", {"id": "hello2"}, expect=409)


async def test_export_and_import_of_a_zip_come_back_the_same(api: Caller) -> None:
    await created(api)
    await created(api, WAITING)
    packed = await api.post("/api/definitions/export", {"ids": ["hello", "waiting"]})
    documents = {item: (await api.get(f"/api/definitions/{item}"))["document"] for item in ("hello", "waiting")}
    for name in documents:
        await api.delete(f"/api/definitions/{name}")

    result = await imported(api, "all.zip", packed)

    assert all(item["ok"] for item in result["files"])
    assert {item: (await api.get(f"/api/definitions/{item}"))["document"] for item in documents} == documents


async def test_files_that_are_no_definitions_are_told_each(api: Caller) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("good.json", json.dumps(HELLO))
        archive.writestr("bad.json", "{")
        archive.writestr("list.json", "[]")
        archive.writestr("hello.yaml", "format: holdfast/definition@1\nid: y\nroot: {type: WriteLine, id: a}\n")

    result = await imported(api, "mixed.zip", packed.getvalue())

    assert {item["file"]: item["ok"] for item in result["files"]} == {
        "mixed.zip/good.json": True,
        "mixed.zip/bad.json": False,
        "mixed.zip/list.json": False,
        "mixed.zip/hello.yaml": True,
    }
    assert (await imported(api, "broken.zip", b"PK\x03\x04rubbish"))["files"][0]["ok"] is False


async def test_elsa_documents_come_in_and_go_out(api: Caller, root: Any) -> None:
    raw = (root / "examples/05_elsa.json").read_bytes()

    result = await imported(api, "elsa.json", raw)

    name = result["files"][0]["id"]
    assert result["files"][0]["ok"]
    assert (await api.get(f"/api/definitions/{name}"))["document"]["format"] == "holdfast/definition@1"
    elsa = await api.get(f"/api/definitions/{name}/export?format=elsa")
    assert elsa["root"]["type"].startswith("Elsa.")


@pytest.mark.parametrize(
    "strategy", ["WorkflowExecuting", "WorkflowExecuted", "ActivityExecuting", "ActivityExecuted", "Periodic"]
)
async def test_an_elsa_document_with_a_commit_strategy_ends(api: Caller, root: Any, strategy: str) -> None:
    document = json.loads((root / "examples/05_elsa.json").read_bytes())
    raw = json.dumps({**document, "options": {"commitStrategyName": strategy}}).encode()
    (file,) = (await imported(api, "elsa.json", raw))["files"]
    assert file["ok"], file
    await api.post(f"/api/definitions/{file['id']}/publish")

    ended = await api.post(f"/api/definitions/{file['id']}/execute")

    assert ended["status"] == "finished"
    assert (await api.get(f"/api/definitions/{file['id']}/export?format=elsa"))["options"][
        "commitStrategyName"
    ] == strategy


async def test_an_unknown_commit_strategy_is_refused_with_the_known_ones(api: Caller, root: Any) -> None:
    elsa = json.loads((root / "examples/05_elsa.json").read_bytes())
    raw = json.dumps({**elsa, "options": {"commitStrategyName": "Sometimes"}}).encode()

    (file,) = (await imported(api, "elsa.json", raw))["files"]
    published = await api.ask("POST", f"/api/definitions/{file['id']}/publish")
    checked = await api.post("/api/definitions/validate", {**HELLO, "options": {"commit": "often"}})

    for told in (published.body, checked):
        assert "activity_executed, periodic, always" in json.dumps(told), told
    assert published.status >= 400


async def imported(api: Caller, name: str, data: bytes) -> Any:
    form = aiohttp.FormData()
    form.add_field("files", data, filename=name)
    return await api.post("/api/definitions/import", data=form)
