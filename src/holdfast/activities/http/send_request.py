"""HTTP request activities: outcomes by status code, retries, and callbacks.

A connection failure, a timeout, or a response with 408, 425, 429 or 5xx is retried as `retries` says. All attempts
carry the same `Idempotency-Key`, so the receiver can deduplicate them.

With `wait_for_callback` the request carries a signed link. The activity then waits at a bookmark until the link is
called or expires. The receiver may call the link before the response to the request has arrived: the callback is stored
and matched when the bookmark is created.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from holdfast import telemetry
from holdfast.activities.http.outbound import AddressRefused, OutboundHttp, OutboundResponse
from holdfast.activities.http.response import encoded
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, field, output, port
from holdfast.errors import ExecutionError
from holdfast.model.charsets import codec_of
from holdfast.ports import Context
from holdfast.ports.access import ResumeLinks

UNMATCHED = "Unmatched status code"
NO_CONNECTION = "Failed to connect"
TIMEOUT = "Timeout"
DONE = "Done"
CALLBACK = "callback"
CALLBACK_HEADER = "X-Callback-Url"
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
DEFAULT_TIMEOUT = timedelta(seconds=100)
WITH_BODY = {"method": ["POST", "PUT", "PATCH", "DELETE"]}
FIRST_DELAY = timedelta(milliseconds=500)
MAX_DELAY = timedelta(seconds=30)


class Sent(Struct, frozen=True):
    """Result of a request: a response, or a failure."""

    response: OutboundResponse | None
    failure: str | None = None
    """Outcome that stands for the failure."""
    reason: str = ""
    """Error text of the failure."""


class _HttpRequest(Activity, abstract=True):
    """Inputs and outputs that all HTTP request activities share."""

    url: str
    """Address to send the request to."""
    method: str = "GET"
    """HTTP method."""
    content: Any = field(default=None, shown_when=WITH_BODY)
    """Body. Text and bytes are sent as they are, other values as JSON."""
    content_type: str | None = field(default=None, shown_when=WITH_BODY)
    """Content type of the body. Default: by the type of the content."""
    authorization: str | None = field(default=None, secret=True)
    """Value of the Authorization header."""
    request_headers: dict[str, Any] | None = None
    """Additional headers."""
    disable_authorization_header_validation: bool = False
    """Accepted for Elsa documents; headers are sent as given."""
    enable_resiliency: bool = False
    """Retry up to three times, unless `retries` is higher."""
    retries: int = 0
    """Number of retries after a connection failure, a timeout, or a response with 408, 425, 429 or 5xx."""
    request_timeout: timedelta | None = None
    """Timeout of each attempt. Default: 100 seconds."""
    response_size_limit: int | None = None
    """Maximum size of the response in bytes. Default: 10 MB."""
    wait_for_callback: bool = False
    """Send a signed link in the header `X-Callback-Url`, and wait until it is called."""
    callback_timeout: timedelta = field(default=timedelta(hours=24), shown_when={"wait_for_callback": True})
    """Time until the link expires. The outcome is then `Timeout`."""
    callback_field: str | None = field(default=None, shown_when={"wait_for_callback": True})
    """Also put the link into this field of the JSON body."""
    result: Any = output()
    """The response: `{"status_code", "url", "headers", "content_type", "content"}`."""
    status_code: int = output()
    """HTTP status of the response."""
    parsed_content: Any = output()
    """Body of the response: JSON as data, text as text, other content as bytes."""
    response_headers: Any = output()
    """Headers of the response, with names in lower case."""
    callback: Any = output()
    """Body of the callback."""

    async def send(self, context: Context) -> Sent:
        headers, content = self._headers(context), self.content
        if self.wait_for_callback:
            links: ResumeLinks = context.service(ResumeLinks)  # type: ignore[type-abstract]  # services are registered by their port
            link = await links.link(context.instance_id, callback_name(context), context.now + self.callback_timeout)
            headers[CALLBACK_HEADER] = link
            if self.callback_field and isinstance(content, Mapping):
                content = {**content, self.callback_field: link}
        body: bytes | None = None
        if content is not None:
            content_type, body = encoded(content, self.content_type)
            headers.setdefault("Content-Type", content_type)
        return await self._try(context, headers, body)

    async def _try(self, context: Context, headers: dict[str, str], body: bytes | None) -> Sent:
        outbound = context.service(OutboundHttp)
        retries = max(self.retries, 3 if self.enable_resiliency else 0)
        sent = Sent(None, NO_CONNECTION)
        for attempt in range(retries + 1):
            if attempt:
                await asyncio.sleep(_delay(attempt, sent.response).total_seconds())
            try:
                sent = Sent(
                    await outbound.request(
                        str(self.method or "GET").upper(),
                        self.url,
                        headers=headers,
                        body=body,
                        timeout=self.request_timeout or DEFAULT_TIMEOUT,
                        size_max=self.response_size_limit or 10 * 1024 * 1024,
                    )
                )
            except AddressRefused as error:
                raise ExecutionError(str(error)) from error
            except TimeoutError as error:
                sent = Sent(None, TIMEOUT, str(error))
                context.journal(str(error))
            except OSError as error:
                sent = Sent(None, NO_CONNECTION, str(error))
                context.journal(str(error))
            if sent.response is not None and sent.response.status not in RETRIED_STATUSES:
                break
        return sent

    def _headers(self, context: Context) -> dict[str, str]:
        headers = {str(name): _header(value) for name, value in (self.request_headers or {}).items()}
        if self.authorization:
            headers["Authorization"] = self.authorization
        if not any(name.lower() == "idempotency-key" for name in headers):
            headers["Idempotency-Key"] = context.idempotency_key
        trace = telemetry.trace_for(context.instance_id)
        if trace is not None:
            headers.setdefault("traceparent", trace)
        return headers

    def put(self, context: Context, response: OutboundResponse) -> None:
        content = parsed(response)
        context.set_output("status_code", response.status)
        context.set_output("parsed_content", content)
        context.set_output("response_headers", response.headers)
        context.set_output(
            "result",
            {
                "status_code": response.status,
                "url": response.url,
                "headers": response.headers,
                "content_type": response.content_type,
                "content": content,
            },
        )

    def wait(self, context: Context) -> None:
        context.bookmark(
            name=callback_name(context),
            resume=self.called,
            due=context.now + self.callback_timeout,
        )

    async def called(self, context: Context, payload: Any) -> None:
        """Handle the callback. The payload is None if the link has expired."""
        if payload is None:
            context.complete(TIMEOUT)
            return
        context.set_output("callback", payload.get("content") if isinstance(payload, Mapping) else payload)
        context.complete(*context.state.get("outcomes", (DONE,)))


class FlowSendHttpRequest(
    _HttpRequest,
    category="HTTP",
    icon="send",
    display_name="HTTP Request (flow)",
    outcomes=(DONE, "200", UNMATCHED, NO_CONNECTION, TIMEOUT),
    dynamic_outcomes=True,
):
    """Sends an HTTP request. The outcomes are `Done` plus the status code if it is expected, else `Unmatched status
    code`.
    """

    expected_status_codes: list[int] = [200]  # noqa: RUF012 - a field; every reader gets a copy
    """Status codes with an outcome of their own; others leave by `Unmatched status code`."""

    async def execute(self, context: Context) -> None:
        sent = await self.send(context)
        if sent.response is None:
            context.complete(sent.failure or NO_CONNECTION)
            return
        self.put(context, sent.response)
        status = sent.response.status
        expected = {int(code) for code in self.expected_status_codes or ()}
        outcomes = (str(status) if status in expected else UNMATCHED, DONE)
        if self.wait_for_callback and (status in expected or 200 <= status < 300):
            context.state["outcomes"] = list(outcomes)
            self.wait(context)
        else:
            context.complete(*outcomes)


class SendHttpRequest(
    _HttpRequest, category="HTTP", icon="send", display_name="HTTP Request", outcomes=(DONE, TIMEOUT), container=True
):
    """Sends an HTTP request, then runs the activity for the response's status code."""

    expected_status_codes: list[dict[str, Any]] = entries(keys=("status_code", "activity"))
    """Activities by status code: `{"status_code": 200, "activity": …}`."""
    unmatched_status_code: Activity | None = port()
    """Runs for status codes that are not expected."""
    failed_to_connect: Activity | None = port()
    """Runs if the connection fails. Default: the activity faults."""
    timeout: Activity | None = port()  # type: ignore[assignment]  # here it is a port: the request's own limit is request_timeout

    async def execute(self, context: Context) -> None:
        sent = await self.send(context)
        if sent.response is None:
            branch: Any = self.timeout if sent.failure == TIMEOUT else self.failed_to_connect
            if branch is None:
                raise ExecutionError(f"{sent.failure or NO_CONNECTION}: {sent.reason}")
            context.schedule(branch)
            return
        self.put(context, sent.response)
        status = sent.response.status
        match = next((item for item in self.expected_status_codes or () if int(item["status_code"]) == status), None)
        branch = self.unmatched_status_code if match is None else match.get("activity")
        if self.wait_for_callback and (match is not None or 200 <= status < 300):
            self.wait(context)
        elif branch is not None:
            context.schedule(branch)


def callback_name(context: Context) -> str:
    """Stimulus name of the link. It is unique to this execution."""
    return f"{CALLBACK}-{context.execution_id}"


def parsed(response: OutboundResponse) -> Any:
    """JSON as data, text as text, other content as bytes."""
    if not response.body:
        return None
    kind = response.content_type
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return json.loads(response.body)
        except (ValueError, RecursionError):
            pass  # The content type says JSON, but the body is not: fall through to text.
    if kind.startswith("text/") or kind.endswith(("json", "xml")) or kind == "application/x-www-form-urlencoded":
        return response.body.decode(codec_of(response.charset) or "utf-8", errors="replace")
    return response.body


def _header(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _delay(attempt: int, response: OutboundResponse | None) -> timedelta:
    """Exponential back-off with jitter. `Retry-After` (in seconds) takes precedence."""
    retry_after = "" if response is None else response.headers.get("retry-after", "")
    if retry_after.isdigit():
        return min(timedelta(seconds=int(retry_after)), MAX_DELAY)
    doubled: timedelta = min(FIRST_DELAY * 2 ** (attempt - 1), MAX_DELAY)
    return doubled * random.uniform(0.8, 1.2)
