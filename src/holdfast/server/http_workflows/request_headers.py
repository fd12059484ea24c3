"""Headers that a workflow receives. Credentials and the facts of proxies are masked: a workflow's values are stored, and viewers
read them. An endpoint receives the headers that it names in `unmasked_headers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MASK = "***"
SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "forwarded", "proxy-authorization", "x-api-key", "x-client-cert", "x-real-ip"}
)
SECRET_PREFIXES = (
    "cf-access-",
    "x-amzn-oidc-",
    "x-auth-request-",
    "x-forwarded-",
    "x-goog-iap-",
    "x-goog-authenticated-user-",
    "x-ms-client-principal",
    "x-ms-token-",
    "x-ssl-",
)
"""Proxies that sign people in pass names, addresses and tokens on in these headers."""


def is_secret(name: str) -> bool:
    """The name in lower case."""
    return name in SECRET_HEADERS or name.startswith(SECRET_PREFIXES)


def received(headers: Iterable[tuple[str, str]], endpoint: Mapping[str, Any]) -> dict[str, str]:
    """The headers for the workflow, names in lower case."""
    unmasked = {str(name).lower() for name in endpoint.get("unmasked_headers") or ()}
    return {name: MASK if is_secret(name) and name not in unmasked else value for name, value in headers}
