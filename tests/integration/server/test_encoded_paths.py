"""Definitions whose id holds a slash, published before such ids were refused: their address says it as %2F."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yarl

from holdfast.client import Client
from holdfast.client.wire import AsgiWire
from holdfast.errors import RequestRefused
from holdfast.model.catalog import DefinitionContent, DefinitionVersion, content_hash
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import HELLO

ID = "sales/eu/greet"
PATH = "/api/definitions/sales%2Feu%2fgreet"


@pytest.fixture
async def old(serve: Serve) -> Caller:
    """A store of before."""
    api = await serve()
    store, now = api.engine.runtime.store, api.engine.clock.now()
    document = msgspec.json.encode({**HELLO, "id": ID})
    content = DefinitionContent(hash=content_hash(document), created=now, document=document)
    label = DefinitionVersion(
        definition_id=ID, version=1, content=content.hash, name="Greet", published=True, created=now
    )
    await store.save_version(label, content)
    return api


async def ask(api: Caller, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
    """As it is written: a client may not tidy the address up."""
    address = yarl.URL(api.url + path, encoded=True)
    async with api.session.request(method, address, json=body) as response:
        assert response.status == expect, await response.text()
        return await response.json(content_type=None) if await response.read() else None


async def test_it_is_read_run_exported_retracted_and_deleted(old: Caller) -> None:
    assert (await ask(old, "GET", PATH))["summary"]["id"] == ID
    assert (await ask(old, "GET", f"{PATH}/versions/1"))["summary"]["id"] == ID
    assert (await ask(old, "POST", f"{PATH}/execute"))["status"] == "finished"
    assert (await ask(old, "POST", f"{PATH}/dispatch", {}, expect=202))["instance_ids"]
    assert (await ask(old, "GET", f"{PATH}/export"))["id"] == ID
    copy = await ask(old, "POST", f"{PATH}/duplicate", {"id": "greet"}, expect=201)
    assert copy["summary"]["id"] == "greet"
    await ask(old, "POST", f"{PATH}/retract")
    await ask(old, "DELETE", PATH, expect=204)
    gone = await ask(old, "GET", PATH, expect=404)

    assert ID in gone["detail"]
    assert gone["instance"] == "/api/definitions/sales%2Feu%2Fgreet"


async def test_plain_slashes_still_part_an_address(old: Caller) -> None:
    await ask(old, "GET", f"/api/definitions/{ID}", expect=404)
    assert (await ask(old, "POST", "/api/events/order%2Fplaced", {}, expect=202))["stimulus_id"]


async def test_the_client_reaches_it_over_http_and_in_process(old: Caller) -> None:
    async with Client(old.url) as client:
        assert (await client.definitions.get(ID)).summary.id == ID
    async with Client(AsgiWire(old.app)) as client:
        assert (await client.definitions.get(ID)).summary.id == ID
        with pytest.raises(RequestRefused, match="'a b ü'"):
            await client.definitions.get("a b ü")
