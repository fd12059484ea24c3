"""Masked headers."""

from __future__ import annotations

import pytest

from holdfast.server.http_workflows.request_headers import MASK, received


@pytest.mark.parametrize(
    "name",
    ["authorization", "cookie", "x-api-key", "proxy-authorization", "x-forwarded-access-token", "x-auth-request-user"],
)
def test_credentials_are_masked_unless_the_endpoint_names_them(name: str) -> None:
    headers = [(name, "secret"), ("x-order", "7")]

    assert received(headers, {}) == {name: MASK, "x-order": "7"}
    assert received(headers, {"unmasked_headers": ["Accept"]})[name] == MASK
    assert received(headers, {"unmasked_headers": [name.title()]})[name] == "secret"
