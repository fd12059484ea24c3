"""Labels and folder of a definition: what a document states of them holds, what it leaves out stays."""

from __future__ import annotations

import json
from typing import Any

import aiohttp

from tests.integration.server.conftest import Caller
from tests.support.server_documents import HELLO


async def filed(api: Caller) -> None:
    await api.post("/api/definitions", HELLO, expect=201)
    await api.put("/api/definitions/hello/labels", {"labels": ["demo"], "folder": "team/a"})


async def place(api: Caller) -> tuple[Any, Any]:
    summary = (await api.get("/api/definitions/hello"))["summary"]
    return summary["labels"], summary["folder"]


async def test_a_document_without_labels_keeps_those_that_are_there(api: Caller) -> None:
    await filed(api)

    await api.put("/api/definitions/hello", HELLO)
    assert await place(api) == (["demo"], "team/a")
    await api.post("/api/definitions/hello/publish")
    await api.put("/api/definitions/hello", {**HELLO, "name": "Next"})
    assert await place(api) == (["demo"], "team/a")


async def test_what_is_read_can_be_saved_again_without_losing_a_label(api: Caller) -> None:
    await filed(api)

    document = (await api.get("/api/definitions/hello"))["document"]
    assert (document["labels"], document["metadata"]["folder"]) == (["demo"], "team/a")
    await api.put("/api/definitions/hello", document)

    assert await place(api) == (["demo"], "team/a")


async def test_a_document_that_states_them_sets_them(api: Caller) -> None:
    await filed(api)

    await api.put("/api/definitions/hello", {**HELLO, "labels": [], "metadata": {"folder": "b"}})

    assert await place(api) == ([], "b")


async def test_an_elsa_document_has_no_labels_to_state(api: Caller) -> None:
    await filed(api)
    elsa = await api.get("/api/definitions/hello/export?format=elsa")

    await api.put("/api/definitions/hello", elsa)

    assert await place(api) == (["demo"], "team/a")


async def test_an_import_keeps_them_too_published_or_not(api: Caller) -> None:
    await filed(api)
    for publish in ("false", "true"):
        form = aiohttp.FormData()
        form.add_field("files", json.dumps({**HELLO, "name": f"N{publish}"}), filename="hello.json")
        await api.post(f"/api/definitions/import?publish={publish}", data=form)
        assert await place(api) == (["demo"], "team/a")


async def test_they_travel_with_what_is_exported_and_duplicated(api: Caller) -> None:
    await filed(api)

    file = await api.get("/api/definitions/hello/export")
    copy = await api.post("/api/definitions/hello/duplicate", {"id": "copy"}, expect=201)

    assert (file["labels"], file["metadata"]["folder"]) == (["demo"], "team/a")
    assert (copy["summary"]["labels"], copy["summary"]["folder"]) == (["demo"], "team/a")


async def test_going_back_to_an_earlier_content_leaves_it_where_it_is_filed(api: Caller) -> None:
    await api.post("/api/definitions", HELLO, expect=201)
    await api.post("/api/definitions/hello/publish")
    await api.put("/api/definitions/hello", {**HELLO, "name": "Next"})
    await api.put("/api/definitions/hello/labels", {"labels": ["demo"], "folder": "team/a"})

    await api.post("/api/definitions/hello/revert", {"version": 1})

    assert await place(api) == (["demo"], "team/a")
