"""`/api/descriptors`: metadata of activities, languages, types and strategies, for designers."""

from __future__ import annotations

from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.problems import not_found
from holdfast.server.routing import Routes
from holdfast.server.schemas.descriptors import (
    ActivityInfo,
    ActivityList,
    LanguageList,
    StrategyList,
    VariableTypeList,
)
from holdfast.server.security import requires
from holdfast.server.views import descriptors as views

router = Routes(
    "/descriptors",
    tags=["descriptors"],
    dependencies=[requires("definitions:read")],
    responses=answers(),
)


@router.get("/activities")
async def list_activity_types(server: Server) -> ActivityList:
    """All activity types, by category and name."""
    found = [views.activity_info(item) for item in server.engine.documented.values()]
    return ActivityList(items=sorted(found, key=lambda item: (item.category, item.display_name, item.type)))


@router.get("/activities/{type}", responses=answers(404))
async def get_activity_type(type: str, server: Server) -> ActivityInfo:
    found = server.engine.documented.get(type)
    if found is None:
        raise not_found("activity type", type)
    return views.activity_info(found)


@router.get("/expressions")
async def list_languages(server: Server) -> LanguageList:
    return LanguageList(items=views.languages(server.engine))


@router.get("/variable-types")
async def list_variable_types(server: Server) -> VariableTypeList:
    return VariableTypeList(items=views.variable_types(server.engine))


@router.get("/strategies")
async def list_strategies(server: Server) -> StrategyList:
    return views.strategies(server.engine)
