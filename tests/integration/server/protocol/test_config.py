"""The configuration of the HTTP server."""

from __future__ import annotations

from holdfast.server.protocol import server_config
from holdfast.server.protocol.http import BoundedHttpProtocol
from holdfast.settings import Settings


def test_the_settings_become_limits() -> None:
    config = server_config(None, Settings(request_headers_max=17, connections_max=3), trust_proxy="10.0.0.0/8, ::1")
    config.load()

    assert (config.limits.headers, config.limits.connections) == (17, 3)
    assert config.http_protocol_class is BoundedHttpProtocol
    assert [config.counts.enter("10.0.0.1") for _ in range(4)] == [True, True, True, False]
