"""`/api/nodes`, `/api/settings`, `/api/statistics`, `/api/preview`, `/api/test-activity`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Query

from holdfast.model.principal import Principal
from holdfast.server import preview
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
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
    """Who is there, and what nobody serves."""
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
    """The node that answers takes no new work from the store."""
    server.runtime.nodes.pause_intake()


@router.post("/nodes/this/resume", status_code=204, dependencies=[requires("operations:write")])
async def resume_node(server: Server) -> None:
    server.runtime.nodes.resume_intake()


@router.get("/settings", dependencies=[requires("settings:read")])
async def list_settings(server: Server) -> list[SettingItem]:
    """The settings that hold, secrets masked."""
    return settings.effective(server.engine)


@router.get("/statistics", dependencies=[requires("operations:read")])
async def get_statistics(
    server: Server, range: Annotated[str, Query(description="1h, 24h, 7d, 30d …; at most 90d.")] = "24h"
) -> Statistics:
    """Figures for a dashboard: throughput, durations, hot spots, what needs somebody."""
    return await statistics.collect(server, range)


@router.post("/preview", responses=answers(404))
async def preview_expression(
    server: Server, who: Annotated[Principal, requires("definitions:read")], body: PreviewRequest
) -> PreviewResult:
    """What an expression gives now, with the values of an instance (for those who may see them) or with made-up ones."""
    if body.instance_id is not None:
        admitted(who, "instances:read")
    return await preview.preview(server, body)


@router.post("/test-activity", dependencies=[requires("definitions:write"), requires("definitions:execute")])
async def test_activity(server: Server, body: ActivityTrialRequest) -> ActivityTrialResult:
    """Run one activity by itself, without storage, as one who writes and starts workflows. Effects touch the world."""
    return await preview.run_activity(server, body)
