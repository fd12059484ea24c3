"""Idempotency keys of requests to workflows (rule M4). A key belongs to method, path and address, not to the matched endpoint.

The bookmark matched by the first request is consumed and cannot be found again; the guard of its commit can.
"""

from __future__ import annotations

from hashlib import sha256

from starlette.requests import Request

from holdfast.model.guard import Guard, idempotency_key
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


def own_key(key: str, principal: Principal) -> str:
    """Scopes the key to the caller, so that no caller receives the reply to another one."""
    return f"{principal.id}:{key}"


def guard_of(request: Request, address: Address, key: str, body: Body) -> Guard:
    """The body is the fingerprint: the same key with another body is refused."""
    fingerprint = stimulus_hash(request.url.query, sha256(body.raw).hexdigest())
    return idempotency_key(operation="http", target=_target(request, address), key=key, fingerprint=fingerprint)


def reply_id(request: Request, address: Address, key: str) -> str:
    """Equal for all requests with this key and target, so that a repetition finds the reply."""
    return sha256(f"{key}\0{_target(request, address)}".encode()).hexdigest()[:48]


def _target(request: Request, address: Address) -> str:
    """Hashed, because callers choose the text and not every database stores every character."""
    return stimulus_hash(request.method, [request.scope["path"], address.instance_id, address.correlation_id])
