"""HttpEndpoint: an HTTP request starts the workflow or resumes it.

Requests are matched by route and method only (`model.routes`). Authorization and size limits are stored next to the
match key, and the server checks them before it starts anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.errors import DefinitionError
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.instance import Bookmark
from holdfast.model.replies import OPEN_REQUESTS
from holdfast.model.routes import METHODS, endpoint_key, parse_route
from holdfast.model.scope import Scope
from holdfast.model.types import convert

TOO_LARGE = "Request too large"
FILE_TOO_LARGE = "File too large"
BAD_EXTENSION = "Invalid file extension"
BAD_MIME_TYPE = "Invalid file MIME type"

_DETAILS = (
    "authorize",
    "policy",
    "request_timeout",
    "request_size_limit",
    "file_size_limit",
    "allowed_file_extensions",
    "blocked_file_extensions",
    "allowed_mime_types",
    "unmasked_headers",
)
_EXPOSED = {
    "expose_request_too_large_outcome": TOO_LARGE,
    "expose_file_too_large_outcome": FILE_TOO_LARGE,
    "expose_invalid_file_extension_outcome": BAD_EXTENSION,
    "expose_invalid_file_mime_type_outcome": BAD_MIME_TYPE,
}


class HttpEndpoint(
    Activity,
    pure=True,
    trigger=True,
    category="HTTP",
    icon="globe",
    display_name="HTTP Endpoint",
    outcomes=("Done", TOO_LARGE, FILE_TOO_LARGE, BAD_EXTENSION, BAD_MIME_TYPE),
):
    """Starts the workflow when an HTTP request with this path and method arrives, or waits for such a request."""

    path: str
    """Route below `/workflows`, such as `orders/{id}` or `files/{*rest}`."""
    supported_methods: list[str] = ["GET"]  # noqa: RUF012 - a field; every reader gets a copy
    """HTTP methods that the endpoint accepts."""
    authorize: bool = False
    """The caller must be authenticated."""
    policy: str | None = field(default=None, shown_when={"authorize": True})
    """Name of a registered policy that the caller must satisfy."""
    request_timeout: timedelta | None = None
    """Maximum time the caller waits for a response before the server answers 202."""
    request_size_limit: int | None = None
    """Maximum size of the request body in bytes."""
    file_size_limit: int | None = None
    """Maximum size of an uploaded file in bytes."""
    allowed_file_extensions: list[str] | None = None
    """Only accept uploaded files with these extensions."""
    blocked_file_extensions: list[str] | None = None
    """Reject uploaded files with these extensions."""
    allowed_mime_types: list[str] | None = None
    """Only accept uploaded files with these MIME types."""
    unmasked_headers: list[str] | None = None
    """Headers that the workflow receives although they hold credentials or facts of a proxy, such as `Authorization`, `Cookie`,
    `X-Api-Key` and `X-Forwarded-For`. Others of them are masked."""
    expose_request_too_large_outcome: bool = False
    """Leave by `Request too large` instead of rejecting the request."""
    expose_file_too_large_outcome: bool = False
    """Leave by `File too large` instead of rejecting the request."""
    expose_invalid_file_extension_outcome: bool = False
    """Leave by `Invalid file extension` instead of rejecting the request."""
    expose_invalid_file_mime_type_outcome: bool = False
    """Leave by `Invalid file MIME type` instead of rejecting the request."""
    result: Any = output()
    """The request: method, path, route, query, headers and content."""
    parsed_content: Any = output()
    """Body of the request, parsed by its content type."""
    files: Any = output()
    """Uploaded files."""
    file: Any = output()
    """First uploaded file."""
    route_data: Any = output()
    """Values of the route's placeholders."""
    query_string_data: Any = output()
    """Values of the query string."""
    headers: Any = output()
    """Headers of the request."""

    def trigger_payloads(self) -> list[dict[str, Any]]:
        return endpoints({name: getattr(self, name) for name in INPUTS})

    @staticmethod
    def trigger_key(payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"route": payload["route"], "method": payload["method"]}

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        inputs = {name: builder.input(name) for name in INPUTS}
        take = _request_handler(builder)

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            take(live, activation, payload)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            if live.takes_trigger(node):
                # The outputs keep the payload from here on; do not store it twice.
                payload, live.trigger_payload = live.trigger_payload, None
                take(live, live.activate(node, owner, scope), payload)
                return
            wanted = endpoints({name: read(scope) for name, read in inputs.items()})
            activation = live.activate(node, owner, scope)
            for item in wanted:
                live.bookmark(activation, NewBookmark(payload=cls.trigger_key(item), metadata=item))

        return op


WAITING_MAX = 20
_NOT_SHOWN = frozenset({"files", "outcome", "request_id", "keep_reply"})
INPUTS = ("path", "supported_methods", *_DETAILS, *_EXPOSED)


def endpoints(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Match key and checks for the server, one item per method. Raises `DefinitionError`."""
    route = parse_route(str(given["path"] or ""))
    details = {name: given[name] for name in _DETAILS if given[name] not in (None, False, "", [])}
    if "request_timeout" in details:
        details["request_timeout"] = convert(details["request_timeout"], "duration")
    exposed = [outcome for name, outcome in _EXPOSED.items() if given[name]]
    if exposed:
        details["exposed"] = exposed
    return [
        {**endpoint_key(route, method), "template": route.template, **details}
        for method in _methods(given["supported_methods"])
    ]


def _methods(given: Any) -> list[str]:
    listed: Sequence[Any] = [given] if isinstance(given, str) else list(given or ("GET",))
    methods = list(dict.fromkeys(str(item).upper() for item in listed))
    unknown = [item for item in methods if item not in METHODS]
    if unknown:
        raise DefinitionError(f"Unknown HTTP method: {', '.join(unknown)}. Supported: {', '.join(METHODS)}.")
    return methods


def _request_handler(builder: NodeBuilder) -> Callable[[LiveInstance, Activation, Any], None]:
    """Return a function that puts a request into the outputs and completes the activity.

    The payload comes from the server, or is an arbitrary value if a user resumed the bookmark by hand.
    """
    puts = {item.name: builder.output(item.name) for item in builder.node.descriptor.outputs}

    def take(live: LiveInstance, activation: Activation, payload: Any) -> None:
        request: Mapping[str, Any] = payload if isinstance(payload, Mapping) else {"content": payload}
        waiting = request.get("request_id")
        if waiting is not None:
            if not request.get(
                "keep_reply"
            ):  # keep_reply: a request with the same idempotency key gets the stored reply.
                live.http_requests |= {str(waiting)}
            # Limit the list: the callers of unanswered requests received 202 long ago.
            known = [*live.properties.get(OPEN_REQUESTS, ()), str(waiting)][-WAITING_MAX:]
            live.properties = {**live.properties, OPEN_REQUESTS: known}
        files = list(request.get("files") or ())
        given = {
            "result": {key: value for key, value in request.items() if key not in _NOT_SHOWN},
            "parsed_content": request.get("content"),
            "files": files,
            "file": files[0] if files else None,
            "route_data": dict(request.get("route") or {}),
            "query_string_data": dict(request.get("query") or {}),
            "headers": dict(request.get("headers") or {}),
        }
        for name, value in given.items():
            puts[name](live, activation.outer, value)
        live.complete(activation, request.get("outcome"))

    return take
