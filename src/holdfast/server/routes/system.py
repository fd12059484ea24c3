"""`/api/nodes`, `/api/settings`, `/api/statistics`, `/api/preview`, `/api/test-activity`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Query

from holdfast.model.principal import Principal
from holdfast.server import preview
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.evaluation_limit import evaluates
from holdfast.server.routing import Routes
from holdfast.server.schemas.operations import (
    ActivityTrialRequest,
    ActivityTrialResult,
    NodeItem,
    NodeList,
    PreviewRequest,
    PreviewResult,
    SettingItem,
    Statistics,
    UnservedQueue,
)
from holdfast.server.security import admitted, requires
from holdfast.server.views import settings, statistics

router = Routes(tags=["system"], responses=answers())


@router.get("/nodes", dependencies=[requires("operations:read")])
async def list_nodes(server: Server) -> NodeList:
    """All nodes, and queues that no live node serves."""
    nodes = server.runtime.nodes
    items = []
    for item in await nodes.list():
        told = msgspec.structs.asdict(item)
        details = told.pop("details")
        items.append(NodeItem(**told, host=details.host, pid=details.pid, queues=list(details.queues)))
    unserved = [UnservedQueue(queue=item.queue, since=item.since) for item in await nodes.unserved()]
    return NodeList(items=items, unserved=unserved)


@router.post("/nodes/this/pause", status_code=204, dependencies=[requires("operations:write")])
async def pause_node(server: Server) -> None:
    """Pause the node that serves this request: it takes no new work from the store."""
    server.runtime.nodes.pause_intake()


@router.post("/nodes/this/resume", status_code=204, dependencies=[requires("operations:write")])
async def resume_node(server: Server) -> None:
    server.runtime.nodes.resume_intake()


@router.get("/settings", dependencies=[requires("settings:read")])
async def list_settings(server: Server) -> list[SettingItem]:
    """Effective settings, with secrets masked."""
    return settings.effective(server.engine)


@router.get("/statistics", dependencies=[requires("operations:read")])
async def get_statistics(
    server: Server, range: Annotated[str, Query(description="1h, 24h, 7d, 30d …; at most 90d.")] = "24h"
) -> Statistics:
    """Dashboard figures: throughput, durations, hot spots, and problems that need attention."""
    return await statistics.collect(server, range)


@router.post("/preview", responses=answers(404))
async def preview_expression(
    server: Server, who: Annotated[Principal, evaluates("definitions:write")], body: PreviewRequest
) -> PreviewResult:
    """Evaluate an expression with the values of an instance (requires permission to read it) or with example values. Requires
    permission to write workflows; requests are limited per principal."""
    if body.instance_id is not None:
        admitted(who, "instances:read")
    return await preview.preview(server, body)


@router.post("/test-activity", dependencies=[evaluates("definitions:write"), requires("definitions:execute")])
async def test_activity(server: Server, body: ActivityTrialRequest) -> ActivityTrialResult:
    """Run one activity without storage. Requires permission to write and start workflows. Side effects are real."""
    return await preview.run_activity(server, body)
