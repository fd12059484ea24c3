"""The node behind a runtime, for tests that drive or inspect single components of it."""

from __future__ import annotations

from holdfast.runtime.cluster.node import Node
from holdfast.runtime.facade import Runtime


def node_of(runtime: Runtime) -> Node:
    node = runtime._parts.life
    assert isinstance(node, Node)
    return node
