"""The node behind a runtime, for tests that drive or inspect single components of it."""

from __future__ import annotations

from typing import Any

from holdfast import Holdfast
from holdfast.execution.segment import Limits
from holdfast.ports import Store
from holdfast.runtime.cluster.node import Node
from holdfast.runtime.cluster.options import NodeEnvironment, NodeOptions
from holdfast.runtime.facade import Runtime


def node_of(runtime: Runtime) -> Node:
    node = runtime._parts.life
    assert isinstance(node, Node)
    return node


def node_on(engine: Holdfast, store: Store, **options: Any) -> Node:
    """A node with these `NodeOptions`, also with several tenants. It has no runtime and is not started."""
    environment = NodeEnvironment(
        store=store,
        plan_of=engine.plan,
        services=engine.services,
        clock=engine.clock,
        limits=Limits(),
        pools=engine._pools,
        definitions=engine.definitions,
        workshop=engine,
    )
    return Node(environment, NodeOptions(**options))
