"""Calling others: outcomes by status, retries, and waiting until they call back.

An attempt that nobody answered, or that was answered with 408, 425, 429 or 5xx, is made again as `retries` says; each
attempt carries the same `Idempotency-Key`, so that the other side can tell.

With `wait_for_callback` the request carries a signed link. The activity then sleeps at a bookmark until the link is called
or its time is over. The link may be called before the answer to the request is even there: it is kept, and found when the
bookmark is made.
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
from holdfast.ports import Context
from holdfast.ports.access import ResumeLinks

UNMATCHED = "Unmatched status code"
NO_CONNECTION = "Failed to connect"
TIMEOUT = "Timeout"
DONE = "Done"
CALLBACK = "callback"
CALLBACK_HEADER = "X-Callback-Url"
TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
DEFAULT_TIMEOUT = timedelta(seconds=100)
WITH_BODY = {"method": ["POST", "PUT", "PATCH", "DELETE"]}
FIRST_DELAY = timedelta(milliseconds=500)
LONGEST_DELAY = timedelta(seconds=30)


class Sent(Struct, frozen=True):
    """What came of a request: an answer, or why there is none."""

    response: OutboundResponse | None
    failure: str | None = None
    """The outcome."""
    reason: str = ""
    """The same for people."""


class _HttpRequest(Activity, abstract=True):
    """What all activities that send a request take and give."""

    url: str
    method: str = "GET"
    content: Any = field(default=None, shown_when=WITH_BODY)
    content_type: str | None = field(default=None, shown_when=WITH_BODY)
    authorization: str | None = field(default=None, secret=True)
    request_headers: dict[str, Any] | None = None
    disable_authorization_header_validation: bool = False
    """Kept for documents of Elsa; headers are sent as they are given."""
    enable_resiliency: bool = False
    """Three retries, if `retries` does not say otherwise."""
    retries: int = 0
    request_timeout: timedelta | None = None
    response_size_limit: int | None = None
    wait_for_callback: bool = False
    """Send a signed link in the header `X-Callback-Url`, and wait until it is called."""
    callback_timeout: timedelta = field(default=timedelta(hours=24), shown_when={"wait_for_callback": True})
    callback_field: str | None = field(default=None, shown_when={"wait_for_callback": True})
    """Also put the link into this field of a JSON object that is sent."""
    result: Any = output()
    status_code: int = output()
    parsed_content: Any = output()
    response_headers: Any = output()
    callback: Any = output()

    async def send(self, context: Context) -> Sent:
        headers, content = self._headers(context), self.content
        if self.wait_for_callback:
            links: ResumeLinks = context.service(ResumeLinks)  # type: ignore[type-abstract]  # asked for by its port
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
            if sent.response is not None and sent.response.status not in TRY_AGAIN:
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
        """The link was called; None: its time is over."""
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
    """Sends an HTTP request; its outcomes are the expected status codes, and `Done` with each of them."""

    expected_status_codes: list[int] = [200]  # noqa: RUF012 - a field; every reader gets a copy

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
    """Sends an HTTP request, then runs the activity for its status code: one that is expected, or what stands for the rest."""

    expected_status_codes: list[dict[str, Any]] = entries(keys=("status_code", "activity"))
    """`{"status_code": 200, "activity": …}`"""
    unmatched_status_code: Activity | None = port()
    failed_to_connect: Activity | None = port()
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
    """The stimulus that a link sends: only this execution of this instance waits for it."""
    return f"{CALLBACK}-{context.execution_id}"


def parsed(response: OutboundResponse) -> Any:
    """JSON as data, text as text, the rest as bytes."""
    if not response.body:
        return None
    kind = response.content_type
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return json.loads(response.body)
        except ValueError:
            pass  # It said so and is not; the text shows what it is.
    if kind.startswith("text/") or kind.endswith(("json", "xml")) or kind == "application/x-www-form-urlencoded":
        try:
            return response.body.decode(response.charset, errors="replace")
        except LookupError:
            return response.body.decode(errors="replace")
    return response.body


def _header(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _delay(attempt: int, response: OutboundResponse | None) -> timedelta:
    """Doubling, with jitter; what the other side asks for (`Retry-After`, in seconds) goes first."""
    asked = "" if response is None else response.headers.get("retry-after", "")
    if asked.isdigit():
        return min(timedelta(seconds=int(asked)), LONGEST_DELAY)
    doubled: timedelta = min(FIRST_DELAY * 2 ** (attempt - 1), LONGEST_DELAY)
    return doubled * random.uniform(0.8, 1.2)
