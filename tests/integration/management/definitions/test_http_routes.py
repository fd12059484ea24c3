"""A route belongs to one definition, also when two processes publish it at the same moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Workflow
from holdfast.activities import HttpEndpoint
from holdfast.errors import InvalidDefinition
from holdfast.management.definitions import http_routes


def of(name: str, path: str = "orders/{id}") -> Workflow:
    return Workflow(HttpEndpoint(path=path, can_start=True), id=name)


class Held:
    """A publish that stops right before it writes."""

    def __init__(self, runtime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        save = runtime.definitions._save

        async def waiting(label: Any, *rest: Any) -> Any:
            if label.published:
                self.reached.set()
                await self.go.wait()
            return await save(label, *rest)

        monkeypatch.setattr(runtime.definitions, "_save", waiting)


async def test_of_two_that_publish_a_route_at_once_one_is_refused(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    held = Held(a, monkeypatch)
    first = asyncio.create_task(a.definitions.save_and_publish(of("first")))
    await held.reached.wait()

    with pytest.raises(InvalidDefinition, match="is being published with the workflow 'first'"):
        await b.definitions.save_and_publish(of("second", "orders/{number}"))
    await b.definitions.save_and_publish(of("other", "others"))
    held.go.set()
    await first

    with pytest.raises(InvalidDefinition, match="belongs to the workflow 'first'"):
        await b.definitions.save_and_publish(of("second"))
    await a.definitions.retract("first")
    await b.definitions.save_and_publish(of("second"))


async def test_processes_that_start_together_publish_the_same_definition(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    await b.definitions.save_draft(of("same"))
    held = Held(a, monkeypatch)
    first = asyncio.create_task(a.definitions.publish("same"))
    await held.reached.wait()
    second = await b.definitions.publish("same")
    held.go.set()

    assert (await first).version.definition_id == second.version.definition_id == "same"


async def test_a_route_is_free_again_after_a_process_died_with_it(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    monkeypatch.setattr(http_routes, "CLAIM_TIMEOUT", timedelta(0))
    held = Held(a, monkeypatch)
    died = asyncio.create_task(a.definitions.save_and_publish(of("died")))
    await held.reached.wait()

    published = await b.definitions.save_and_publish(of("second"))

    assert published.triggers == 1
    died.cancel()
    await asyncio.gather(died, return_exceptions=True)
