"""Idempotency keys of requests to workflows (rule M4). A key belongs to method, path and address, not to the matched endpoint.

The bookmark matched by the first request is consumed and cannot be found again; the guard of its commit can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.requests import Request

from holdfast.model.guard import Guard, GuardRef, idempotency_key
from holdfast.model.hashing import stimulus_hash
from holdfast.model.principal import Principal
from holdfast.server.http_workflows.endpoint_match import Address
from holdfast.server.http_workflows.request_body import Body
from holdfast.server.problems import Refusal

KEY_LENGTH_MAX = 200


def checked_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and len(key) > KEY_LENGTH_MAX:
        raise Refusal(
            422,
            "idempotency.too_long",
            f"The Idempotency-Key is longer than {KEY_LENGTH_MAX} characters. Send a shorter one.",
        )
    return key


def scoped_key(key: str, principal: Principal | None, endpoint: Mapping[str, Any]) -> str:
    """The key within the scope of its caller and of the endpoint's access rule, so that no caller receives the reply to another
    one, nor the reply of an endpoint that would refuse the caller. A hash of a list: no key can spell the scope of another."""
    scope = [None if principal is None else principal.id, bool(endpoint.get("authorize")), endpoint.get("policy"), key]
    return sha256(json.dumps(scope).encode()).hexdigest()


def guard_of(request: Request, address: Address, key: str, body: Body) -> Guard:
    """The body is the fingerprint: the same key with another body is refused."""
    return idempotency_key(
        operation="http", target=_target(request, address), key=key, fingerprint=fingerprint_of(request, body)
    )


def guard_ref(request: Request, address: Address, key: str) -> GuardRef:
    """The name of the guard, which does not depend on the body."""
    return idempotency_key(operation="http", target=_target(request, address), key=key).ref


def fingerprint_of(request: Request, body: Body) -> str:
    return stimulus_hash(request.url.query, sha256(body.raw).hexdigest())


def reply_id(request: Request, address: Address, key: str) -> str:
    """Equal for all requests with this key and target, so that a repetition finds the reply."""
    return sha256(f"{key}\0{_target(request, address)}".encode()).hexdigest()[:48]


def _target(request: Request, address: Address) -> str:
    """Hashed, because callers choose the text and not every database stores every character."""
    return stimulus_hash(request.method, [request.scope["path"], address.instance_id, address.correlation_id])
