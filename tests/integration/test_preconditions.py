"""An activity whose `can_execute` is false waits durably, and each dispatch checks it again; on every store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Activity, Context, Status, Workflow, expr
from holdfast.activities import Sequence, SetOutput
from holdfast.api import ModifyVariable
from holdfast.execution.preconditions import PENDING
from holdfast.model.requests import DispatchDefinition, DispatchInstance, DispatchResume

SOON = timedelta(seconds=20)


class PackInStock(Activity, pure=True):
    stock: int

    def can_execute(self, context: Context) -> bool:
        return self.stock > 0

    def execute(self, context: Context) -> None: ...


class SendInStock(Activity):
    stock: int

    def can_execute(self, context: Context) -> bool:
        return self.stock > 0

    async def execute(self, context: Context) -> None: ...


def selling(activity: type[Any]) -> Workflow:
    return Workflow(
        Sequence(activity(stock=expr("stock"), id="send"), SetOutput("sold", expr("stock"))),
        id="selling",
        variables={"stock": 0},
        outputs={"sold": int},
    )


@pytest.mark.parametrize("by", ["activity", "type"])
@pytest.mark.parametrize("activity", [PackInStock, SendInStock])
async def test_a_dispatch_checks_it_again(cluster: Any, activity: type[Any], by: str) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(selling(activity))
    begun = await node.dispatcher.dispatch(DispatchDefinition(definition_id="selling"), wait=SOON)
    identity = begun.instance_id
    requests: dict[str, Any] = {
        "activity": DispatchInstance(instance_id=identity, activity_id="send"),
        "type": DispatchResume(activity_type=activity.__name__, payload=PENDING, instance_id=identity),
    }

    again = await node.dispatcher.dispatch(requests[by], wait=SOON)
    await node.alterations.alter(identity, [ModifyVariable(variable="stock", value=3)], who="ann")
    await node.dispatcher.dispatch(requests[by])

    assert (begun.status, again.status) == (Status.SUSPENDED, Status.SUSPENDED)
    ended = await node.wait_at_rest(identity)
    assert (ended.status, ended.outputs) == (Status.FINISHED, {"sold": 3})
    await cluster.check(node, identity)
