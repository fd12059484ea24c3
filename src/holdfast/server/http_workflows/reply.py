"""The response to an HTTP request: the reply that the workflow wrote, sent after the commit that stores it (rule M13).

The reply is in memory if the burst that accepted the request wrote it. Otherwise the server waits for the reply's record, which
any node may write, or for the end of the instance. A workflow without a response activity is awaited only until it ends or
suspends. At the timeout the caller receives 202 and the address of the instance.
"""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from holdfast.execution.plan import Plan
from holdfast.model.instance import Status
from holdfast.model.replies import REPLY, HttpReply
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult
from holdfast.server.live.watch import GONE, Watch
from holdfast.server.problems import problem

RESPONSE_ACTIVITIES = frozenset({"WriteHttpResponse", "WriteFileHttpResponse"})
INSTANCE_HEADER = "X-Workflow-Instance-Id"
_decode = msgspec.msgpack.Decoder(HttpReply).decode
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A request accepted by an instance."""

    request_id: str
    instance_id: str
    result: RunResult | None
    """The result of the burst that accepted the request, if it ran on this node."""
    limit: timedelta
    keep: bool = False
    """Keeps the record of the reply, for repetitions with the same key."""


class Replies:
    def __init__(self, runtime: Runtime, watch: Watch, location: str) -> None:
        self._runtime = runtime
        self._watch = watch
        self._location = location
        """Base address of instances."""

    async def response(self, request: Request, waiting: Waiting) -> Response:
        found = await self._found(waiting)
        if isinstance(found, HttpReply):
            sent = written(request, found)
        elif found is Status.FINISHED:
            sent = Response(status_code=200)
        elif found is None:
            place = f"{self._location}/{quote(waiting.instance_id)}"
            sent = Response(status_code=202, headers={"Location": place})
        else:
            message = "The workflow was canceled." if found is Status.CANCELED else "The workflow failed."
            sent = problem(500, f"workflow.{found.value}", message, path=request.url.path)
        sent.headers.setdefault(INSTANCE_HEADER, waiting.instance_id)
        return sent

    async def _found(self, waiting: Waiting) -> HttpReply | Status | None:
        """The reply, or the status of an instance that ended without one; None at the timeout."""
        result = waiting.result
        if result is not None:
            here = result._live.replies.get(waiting.request_id)
            if here is not None:
                return here
            if result.status.at_rest:
                return result.status
            if result.status is Status.SUSPENDED and not answers(result._live.plan):
                return None
        try:
            async with asyncio.timeout(waiting.limit.total_seconds()):
                return await self._later(waiting)
        except TimeoutError:
            return None

    async def _later(self, waiting: Waiting) -> HttpReply | Status | None:
        runtime = self._runtime
        with self._watch.instance(waiting.instance_id) as watcher:
            seen = 0
            while True:
                seen = await watcher.changed(seen)
                status = None
                plan = None
                if seen != GONE:
                    row = await runtime.row(waiting.instance_id)
                    status, plan = Status(row.status), await runtime.plans.plan(row.content)
                # Read after the row: the commit that ended the instance also wrote the reply.
                record = await runtime.store.get_record(runtime.tenant, REPLY, waiting.request_id)
                if record is not None:
                    if not waiting.keep:
                        await runtime.store.delete_record(runtime.tenant, REPLY, waiting.request_id)
                    return _decode(record.payload)
                if status is None or status.at_rest:
                    return status or Status.FINISHED
                if status is Status.SUSPENDED and plan is not None and not answers(plan):
                    return None


def answers(plan: Plan) -> bool:
    """Whether the workflow has an activity that can write a response."""
    return any(node.definition.type in RESPONSE_ACTIVITIES for node in plan.by_key.values())


def written(request: Request, reply: HttpReply) -> Response:
    """The reply as an HTTP response; supports range and conditional requests for files."""
    headers = dict.fromkeys(name for name, _ in reply.headers)
    response = Response(content=reply.body, status_code=reply.status, media_type=reply.content_type)
    for name in headers:
        values = [value for key, value in reply.headers if key == name]
        response.headers[name] = values[0]
        for value in values[1:]:
            response.headers.append(name, value)
    tag = response.headers.get("etag")
    if tag is not None and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    if reply.resumable:
        response.headers["accept-ranges"] = "bytes"
        wanted = _RANGE.fullmatch(request.headers.get("range", ""))
        if wanted is not None and _is_range(wanted[1], wanted[2]):
            return _part(response, reply.body, wanted[1], wanted[2])
    return response


def _is_range(first: str, last: str) -> bool:
    """An invalid range is ignored, not refused, as RFC 9110 requires."""
    return bool(first or last) and not (first and last and int(last) < int(first))


def _part(whole: Response, body: bytes, first: str, last: str) -> Response:
    size = len(body)
    if first:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
    else:
        start, end = max(size - int(last or 0), 0), size - 1
    headers = {name: value for name, value in whole.headers.items() if name != "content-length"}
    if start > end or start >= size:
        return Response(status_code=416, headers={"content-range": f"bytes */{size}"})
    headers["content-range"] = f"bytes {start}-{end}/{size}"
    return Response(content=body[start : end + 1], status_code=206, headers=headers)
