"""The ASGI application: routes, error handlers, headers, limits and Studio. Serve it, or mount it into your own application.

A mounted application gets no lifespan events. It opens its resources with the first request, and the caller that entered
the engine (`async with engine`) owns the engine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute

from holdfast import __version__
from holdfast.engine import Holdfast
from holdfast.ports import Authenticator
from holdfast.server import auth, health, http_workflows, metrics, problems, users
from holdfast.server.admission import AdmittedRoute
from holdfast.server.backend import Backend
from holdfast.server.documentation import documentation_routes
from holdfast.server.documented_answers import answers, operation_id
from holdfast.server.evaluation_limit import EvaluationLimit
from holdfast.server.live import connection
from holdfast.server.middleware import Entrance, wrapped
from holdfast.server.openapi import describe
from holdfast.server.routes import (
    bookmarks,
    definitions,
    descriptors,
    executions,
    instances,
    moments,
    operations,
    schedules,
    stimuli,
    system,
    tasks,
    transfer,
    verbs,
)
from holdfast.server.routing import add_routes
from holdfast.server.static import Studio

ACCOUNTS = (auth.router, users.router)
ROUTERS = (
    instances.router,
    moments.router,
    verbs.router,
    transfer.router,
    definitions.router,
    executions.router,
    tasks.router,
    bookmarks.router,
    descriptors.router,
    stimuli.router,
    schedules.router,
    operations.router,
    system.router,
)
"""Order matters: of two matching routes, the first one answers."""


def create_app(
    engine: Holdfast,
    *,
    auth: bool = True,
    studio: bool = True,
    base_path: str = "",
    authenticators: Sequence[Authenticator] = (),
) -> Entrance:
    """REST, live updates, HTTP workflows, health and Studio over an engine with a store. `authenticators` run before the
    built-in accounts."""
    backend = Backend(engine, auth=auth, base_path=base_path, authenticators=authenticators)
    return entrance(backend, studio=studio)


def entrance(backend: Backend, *, studio: bool) -> Entrance:
    """The application of a backend, which may still be closed."""
    api = make_api(backend)
    if folder := backend.engine.settings.docs_dir:
        api.router.routes.extend(documentation_routes(Path(folder)))
    if studio:
        api.mount("/", Studio(backend.base_path, modules=backend.engine.registry.studio_modules))
    return wrapped(api, backend)


def make_api(backend: Backend) -> FastAPI:
    """The FastAPI application without the surrounding middleware."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.security = await backend.open()
        try:
            yield
        finally:
            await backend.close()

    api = FastAPI(
        title="Holdfast",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
        separate_input_output_schemas=False,
    )
    api.state.backend = backend
    api.state.evaluation_limit = EvaluationLimit()
    problems.install(api)
    http_workflows.mount(api, backend)  # First, so its requests skip the search through all other routes.
    api.router.routes.extend(_routes())
    connection.mount(api, backend)
    api.openapi = lambda: describe(api)  # type: ignore[method-assign]
    return api


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Built once per process: routes do not depend on the application, and building them takes most of the time of
    `create_app`."""
    made = APIRouter(generate_unique_id_function=operation_id, route_class=AdmittedRoute)
    for router in ROUTERS:
        add_routes(made, router, "/api", answers())
    for router in ACCOUNTS:
        add_routes(made, router, "/api", answers(404, 409))
    add_routes(made, health.described, "/api")
    add_routes(made, health.router)
    add_routes(made, metrics.router)
    return tuple(made.routes)
