"""Details of a node in the registry: the stored format, and the tenants that the node serves."""

from __future__ import annotations

import json

from holdfast.model.node_details import NodeDetails, read_details


def test_details_are_read_as_they_were_written() -> None:
    details = NodeDetails(host="h", pid=7, tenant="acme", queues=("default", "mail"))

    assert read_details(details.encoded()) == details
    assert json.loads(details.encoded()) == {"host": "h", "pid": 7, "tenant": "acme", "queues": ["default", "mail"]}


def test_a_node_serves_its_tenants() -> None:
    one, many = NodeDetails(tenant=""), NodeDetails(tenant="acme", tenants=("acme", "globex"))

    assert [one.serves(tenant) for tenant in ("", "acme")] == [True, False]
    assert [many.serves(tenant) for tenant in ("acme", "globex", "")] == [True, True, False]


def test_details_of_an_unknown_format_name_nothing() -> None:
    for data in (b"", b"\x00", b'{"queues": 1}'):
        assert read_details(data) == NodeDetails()
        assert not read_details(data).serves("")


def test_unknown_fields_of_a_later_version_are_ignored() -> None:
    assert read_details(b'{"tenant": "acme", "zone": "eu"}') == NodeDetails(tenant="acme")
