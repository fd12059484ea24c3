"""Requests of dispatchers that name an HTTP endpoint by its path and method, on every store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import HttpEndpoint, Sequence, SetOutput
from holdfast.errors import DefinitionError
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.requests import DispatchDefinition, DispatchResume, DispatchStimulus, DispatchTrigger

SOON = timedelta(seconds=20)
ENDPOINT = "HttpEndpoint"


def serving(name: str, path: str, *, start: bool) -> Workflow:
    return Workflow(
        Sequence(
            HttpEndpoint(path=path, supported_methods=["POST"], can_start=start, result="request"),
            SetOutput("seen", expr("request")),
        ),
        id=name,
        outputs={"seen": dict},
        variables={"request": None},
    )


PAYLOADS = [
    {"Path": "Orders/{id}", "Method": "Post"},
    {"path": "/orders/{number}", "method": "POST"},
    {"route": "orders/*", "method": "post"},
]


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_a_trigger_starts_by_path_and_method(cluster: Any, payload: dict[str, str]) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(serving("orders", "orders/{id}", start=True))
    request = DispatchTrigger(activity_type=ENDPOINT, payload=payload, input={"content": 7, "route": {"id": "1"}})

    answer = await node.dispatcher.dispatch(request)

    assert answer.count == 1
    ended = await node.wait_at_rest(answer.instance_id)
    assert ended.outputs["seen"] == {"content": 7, "route": {"id": "1"}}


@pytest.mark.parametrize("dispatcher", ["durable", "inline"])
async def test_without_an_input_the_endpoint_gets_the_path_and_method(cluster: Any, dispatcher: str) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(serving("orders", "orders/{id}", start=True))

    answer = await getattr(node, dispatcher).dispatch(DispatchTrigger(activity_type=ENDPOINT, payload=PAYLOADS[0]))

    ended = await node.wait_at_rest(answer.instance_id)
    assert ended.outputs["seen"] == {"path": "/Orders/{id}", "method": "POST"}


async def test_another_path_or_method_matches_nothing(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(serving("orders", "orders/{id}", start=True))

    for payload in ({"Path": "orders", "Method": "POST"}, {"Path": "orders/{id}", "Method": "GET"}):
        answer = await node.dispatcher.dispatch(DispatchTrigger(activity_type=ENDPOINT, payload=payload))
        assert answer.count == 0
    with pytest.raises(DefinitionError):
        await node.dispatcher.dispatch(DispatchTrigger(activity_type=ENDPOINT, payload={"Path": "x", "Method": "FLY"}))


@pytest.mark.parametrize("by", ["resume", "trigger", "stimulus"])
@pytest.mark.parametrize("payload", PAYLOADS[:2])
async def test_a_waiting_endpoint_resumes_by_path_and_method(cluster: Any, payload: dict[str, str], by: str) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(serving("waits", "orders/{id}", start=False))
    begun = await node.dispatcher.dispatch(DispatchDefinition(definition_id="waits"), wait=SOON)
    assert begun.status == Status.SUSPENDED
    requests: dict[str, Any] = {
        "resume": DispatchResume(activity_type=ENDPOINT, payload=payload, input={"content": 7}),
        "trigger": DispatchTrigger(
            activity_type=ENDPOINT, payload=payload, input={"content": 7}, instance_id=begun.instance_id
        ),
        "stimulus": DispatchStimulus(type=ENDPOINT, payload=payload, input={"content": 7}),
    }

    explained = await node.stimuli.explain(ENDPOINT, payload)
    await node.dispatcher.dispatch(requests[by])

    assert len(explained.resumes) == 1
    assert (await node.wait_at_rest(begun.instance_id)).outputs["seen"] == {"content": 7}


async def test_a_stimulus_starts_by_path_and_method(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(serving("orders", "orders/{id}", start=True))

    assert (await node.stimuli.explain(ENDPOINT, PAYLOADS[0])).starts == ("orders",)
    await node.dispatcher.dispatch(DispatchStimulus(type=ENDPOINT, payload=PAYLOADS[0], input={"content": 7}))

    query = InstanceQuery(tenant=cluster.tenant, filter=InstanceFilter(definition_ids=("orders",)))
    seen = 0
    while not (items := (await node.store.search(query)).items):
        seen = await node.store.wait_for_change(seen, timedelta(seconds=1))
    assert (await node.wait_at_rest(items[0].id)).outputs["seen"] == {"content": 7}
