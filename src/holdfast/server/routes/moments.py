"""`/api/instances/{id}/moments`: earlier states of an instance (setting `history = snapshots`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from holdfast.model.instance import Status
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.routing import Routes
from holdfast.server.schemas.instances import MomentDetail, MomentItem, MomentList
from holdfast.server.security import requires
from holdfast.server.views import instances as views
from holdfast.settings import History

router = Routes("/instances", tags=["instances"], dependencies=[requires("instances:read")], responses=answers(404))

Version = Annotated[int, Path(ge=1, lt=2**62, description="Version of the instance, as in `position`.")]


@router.get("/{id}/moments")
async def list_moments(id: str, server: Server) -> MomentList:
    """Versions of an instance with a stored state, oldest first; each can be read and forked."""
    await server.runtime.row(id)
    found = await server.runtime.moments(id)
    items = [MomentItem(version=item.version, at=item.at, status=Status(item.status).value) for item in found]
    return MomentList(items=items, kept=server.engine.settings.history is History.SNAPSHOTS)


@router.get("/{id}/moments/{version}")
async def get_moment(id: str, version: Version, server: Server) -> MomentDetail:
    """The instance as of this commit."""
    return await views.moment(server, id, version)
