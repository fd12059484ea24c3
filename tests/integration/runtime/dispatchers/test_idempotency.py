"""Requests under an idempotency key, whose sender dies after any of its writes: asked again, each is done once (rule M4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable, While
from holdfast.errors import KeyReused
from holdfast.model.requests import DispatchInstance, DispatchResume, DispatchStimulus
from tests.integration.conftest import Cluster

WRITES = ("put_record", "enqueue", "commit")


class Died(Exception):
    """The sender's process is gone."""


class Dying:
    """A store whose process dies after its nth write: that one is done, and nobody hears of it."""

    def __init__(self, store: Any, number: int) -> None:
        self._store = store
        self._left = number

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in WRITES:
            return method

        async def write(*given: Any, **more: Any) -> Any:
            answer = await method(*given, **more)
            self._left -= 1
            if self._left == 0:
                raise Died
            return answer

        return write


def listening() -> Workflow:
    remember = SetVariable("tokens", expr("tokens + [token]"))
    return Workflow(
        While(True, Sequence(Event("go", result="token"), remember)),
        id="listening",
        variables={"tokens": [], "token": ""},
    )


def request(kind: str, name: str) -> Any:
    if kind == "stimulus":
        return DispatchStimulus(type="Event", event_name="go", payload="t", instance_id=name, idempotency_key="k")
    if kind == "resume":
        payload = {"event_name": "go"}
        return DispatchResume(activity_type="Event", payload=payload, input="t", instance_id=name, idempotency_key="k")
    return DispatchInstance(instance_id=name, input={"token": "t"}, idempotency_key="k")


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("kind", ["stimulus", "resume", "instance"])
@pytest.mark.parametrize("way", ["durable", "inline"])
async def test_a_keyed_request_is_done_once_wherever_its_sender_dies(
    cluster: Cluster, way: str, kind: str, number: int
) -> None:
    worker, sender = await cluster.node("worker", work=True), await cluster.node("sender")
    name = f"{cluster.tenant}-listens"
    await worker.start(listening(), instance_id=name)
    dispatcher, asked = (sender.durable if way == "durable" else sender.inline), request(kind, name)
    store = sender.store
    sender.store = Dying(store, number)
    try:
        await dispatcher.dispatch(asked)
    except Died:
        pass
    finally:
        sender.store = store

    await dispatcher.dispatch(asked)
    await dispatcher.dispatch(asked)

    seen = 0
    while not (await worker.read(name)).variables["tokens"] or (await store.stats(cluster.tenant)).work_ready:
        seen = await store.wait_for_change(seen, timedelta(milliseconds=100))
    assert len((await worker.read(name)).variables["tokens"]) == 1


async def test_a_keyed_resume_of_whatever_waits_is_done_once(cluster: Cluster) -> None:
    """Nobody named the bookmark; the second time another one waits, and is left alone."""
    runtime = await cluster.node()
    name = f"{cluster.tenant}-listens"
    await runtime.start(listening(), instance_id=name)

    for _ in range(3):
        await runtime.resume(name, None, "t", idempotency="k")

    assert (await runtime.read(name)).variables["tokens"] == ["t"]
    with pytest.raises(KeyReused):
        await runtime.resume(name, None, "another", idempotency="k")
