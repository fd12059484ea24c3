"""Options of a node: the queues that it serves, as work rows name them."""

from __future__ import annotations

from holdfast.runtime.cluster.options import NodeOptions


def test_a_node_serves_the_default_queue_of_the_default_tenant() -> None:
    assert NodeOptions().stored_queues == ["default"]


def test_each_tenant_has_each_queue() -> None:
    options = NodeOptions(tenants=("", "acme"), queues=("default", "mail"))

    assert options.stored_queues == ["default", "mail", "default@acme", "mail@acme"]
