"""Looking back at an instance, and going on from a moment: over REST and by the client."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.client import Client
from holdfast.engine import Holdfast
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import HELLO, WAITING


@pytest.fixture
async def keeping(serve: Serve) -> Caller:
    """A server that keeps the state of each commit, with an instance that has ended."""
    api = await serve(Holdfast(store="memory://", entry_points=False, history="snapshots"))
    await api.post("/api/definitions", WAITING, expect=201)
    await api.post("/api/definitions/waiting/publish")
    return api


async def ended(api: Caller) -> str:
    name = (await api.post("/api/definitions/waiting/execute"))["instance_id"]
    await api.post(f"/api/instances/{name}/resume", {"payload": "yes"})
    return str(name)


async def test_the_states_of_an_instance_are_read_again(keeping: Caller) -> None:
    name = await ended(keeping)

    told = await keeping.get(f"/api/instances/{name}/moments")
    first, last = told["items"]
    then = await keeping.get(f"/api/instances/{name}/moments/{first['version']}")

    assert told["kept"] is True
    assert (first["status"], last["status"]) == ("suspended", "finished")
    assert (then["status"], then["version"]) == ("suspended", first["version"])
    assert [mark["activity_id"] for mark in then["state"]["bookmarks"]] == ["wait"]
    assert then["document"]["id"] == "waiting"


async def test_a_moment_that_is_not_kept_is_not_found(keeping: Caller, serve: Serve) -> None:
    name = await ended(keeping)

    assert (await keeping.get(f"/api/instances/{name}/moments/999", expect=404))["code"] == "state.not_kept"
    assert (await keeping.get("/api/instances/none/moments", expect=404))["code"] == "instance.not_found"
    assert (await keeping.get("/api/instances/none/moments/1", expect=404))["code"] == "instance.not_found"

    plain = await serve()
    await plain.post("/api/definitions", HELLO, expect=201)
    await plain.post("/api/definitions/hello/publish")
    other = (await plain.post("/api/definitions/hello/execute"))["instance_id"]
    assert await plain.get(f"/api/instances/{other}/moments") == {"items": [], "kept": False}


async def test_an_ended_instance_is_forked_from_when_it_waited(keeping: Caller) -> None:
    name = await ended(keeping)
    async with Client(keeping.url) as client:
        moments = await client.instances.moments(name)
        then = await client.instances.at(name, moments.items[0].version)
        forked = await client.instances.fork(name, version=then.version, why="once more")
        result = await client.instances.resume(forked.id, payload="no")

    assert result.outputs == {"said": "no"}
    assert (await keeping.get(f"/api/instances/{name}"))["state"]["outputs"] == {"said": "yes"}


async def test_an_activity_that_waits_is_skipped_by_the_client(keeping: Caller) -> None:
    name = (await keeping.post("/api/definitions/waiting/execute"))["instance_id"]
    async with Client(keeping.url) as client:
        result = await client.instances.skip(name, "wait", why="nobody will answer")

    assert result.status == "finished"


async def test_stimuli_that_nobody_came_for_are_listed(serve: Serve) -> None:
    from holdfast.model.values import encode
    from holdfast.model.work import InboxRow
    from holdfast.runtime.commits.work_rows import Stimulus, encoded

    api = await serve()
    runtime = api.engine.runtime
    now = runtime.clock.now()
    found = Stimulus(id="s1", type="Event", event_name="paid", payload=encode(7), key=encode("o1"))
    row = InboxRow(id="s1", key=1, type="Event", arrived=now, expires=now, payload=encoded(found))
    await runtime.expiry.record(row)

    async with Client(api.url) as client:
        (listed,) = await client.stimuli.expired()
    assert (listed.id, listed.event_name, listed.key) == ("s1", "paid", "o1")


async def test_a_definition_is_exported_as_python(keeping: Caller) -> None:
    async with Client(keeping.url) as client:
        text = (await client.definitions.export("waiting", "python")).decode()
    answer = await keeping.ask("GET", "/api/definitions/waiting/export?format=python")
    made: dict[str, Any] = {}
    exec(text, made)

    assert made["workflow"].definition.id == "waiting"
    assert answer.headers["content-type"].startswith("text/x-python")
    assert answer.headers["content-disposition"] == 'attachment; filename="waiting.py"'
    assert answer.body.decode() == text


async def test_what_python_has_no_name_for_is_noted_above(keeping: Caller) -> None:
    document = {**HELLO, "id": "odd", "root": {"type": "OfSomebodyElse", "id": "a"}}
    await keeping.post("/api/definitions", document, expect=201)
    text = (await keeping.ask("GET", "/api/definitions/odd/export?format=python")).body.decode()

    assert text.startswith("# 'OfSomebodyElse' is written as Placed(…)")
    assert 'Placed("OfSomebodyElse"' in text


async def test_code_is_not_converted_to_python(serve: Serve) -> None:
    from holdfast import workflow

    @workflow
    async def coded() -> int:
        return 1

    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[coded]))
    refused = await api.get(f"/api/definitions/{coded.definition.id}/export?format=python", expect=422)

    assert refused["code"] == "definition.not_converted"
    assert "was compiled from a function" in refused["detail"]


async def test_routes_without_a_method_of_their_own_are_called_all_the_same(keeping: Caller) -> None:
    async with Client(keeping.url) as client:
        nodes = await client.call("GET", "/nodes")
        nothing = await client.call("DELETE", "/definitions/waiting")

    assert [node["this"] for node in nodes["items"]] == [True]
    assert nothing is None


async def test_there_is_nothing_to_recover_of_an_instance_that_waits(keeping: Caller) -> None:
    name = (await keeping.post("/api/definitions/waiting/execute"))["instance_id"]
    async with Client(keeping.url) as client:
        assert (await client.instances.recover(name, why="nobody knows")).count == 0
    assert (await keeping.post(f"/api/instances/{name}/recover"))["count"] == 0  # A reason may be left out.
    assert (await keeping.post("/api/instances/none/recover", expect=404))["code"] == "instance.not_found"
