"""Every route against every built-in role. The table is written by hand: a new route stands in it, or the test fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.model.principal import PERMISSIONS, ROLES
from holdfast.server.security import PUBLIC, SIGNED_IN, permissions_of
from tests.integration.server.conftest import Caller, Serve

PASSWORD = "let me in please"

TABLE = {
    "definitions:execute": """
        POST /api/definitions/{id}/bulk-dispatch
        POST /api/definitions/{id}/dispatch
        GET /api/definitions/{id}/execute
        POST /api/definitions/{id}/execute
    """,
    "definitions:execute definitions:write": """
        POST /api/test-activity
    """,
    "definitions:execute operations:write": """
        POST /api/schedules/{id}/run
    """,
    "definitions:publish": """
        POST /api/definitions/{id}/publish
        POST /api/definitions/{id}/retract
    """,
    "definitions:publish definitions:write": """
        POST /api/definitions/bulk
        POST /api/definitions/import
    """,
    "definitions:read": """
        GET /api/definitions
        POST /api/definitions/export
        GET /api/definitions/{id}
        GET /api/definitions/{id}/diff
        GET /api/definitions/{id}/export
        GET /api/definitions/{id}/graph
        GET /api/definitions/{id}/versions
        GET /api/definitions/{id}/versions/{version}
        GET /api/descriptors/activities
        GET /api/descriptors/activities/{type}
        GET /api/descriptors/expressions
        GET /api/descriptors/strategies
        GET /api/descriptors/variable-types
        GET /api/schedules
        GET /api/schedules/preview
        GET /api/schedules/{id}/next
        GET /api/triggers
    """,
    "definitions:read definitions:write": """
        POST /api/definitions/{id}/duplicate
        POST /api/definitions/{id}/revert
    """,
    "definitions:read instances:read": """
        GET /api/instances/{id}/export
    """,
    "definitions:write": """
        POST /api/definitions
        POST /api/definitions/validate
        PUT /api/definitions/{id}
        DELETE /api/definitions/{id}
        PUT /api/definitions/{id}/labels
        POST /api/definitions/{id}/validate
        DELETE /api/definitions/{id}/versions/{version}
        POST /api/preview
    """,
    "events:send": """
        POST /api/events/{name}
        POST /api/stimuli
    """,
    "instances:delete": """
        DELETE /api/instances/{id}
    """,
    "instances:read": """
        GET /api/bookmarks
        GET /api/incidents
        GET /api/instances
        POST /api/instances/bulk
        GET /api/instances/counts
        GET /api/instances/{id}
        GET /api/instances/{id}/children
        GET /api/instances/{id}/executions
        GET /api/instances/{id}/incidents
        GET /api/instances/{id}/journal
        GET /api/instances/{id}/moments
        GET /api/instances/{id}/moments/{version}
        GET /api/instances/{id}/timeline
        POST /api/stimuli/explain
    """,
    "instances:read operations:read": """
        GET /api/alterations
        GET /api/alterations/{id}
    """,
    "instances:write": """
        POST /api/instances/import
        POST /api/instances/{id}/alter
        POST /api/instances/{id}/cancel
        POST /api/instances/{id}/fork
        POST /api/instances/{id}/recover
        POST /api/instances/{id}/resume
        POST /api/instances/{id}/retry
        POST /api/instances/{id}/skip
        PATCH /api/instances/{id}/variables
    """,
    "instances:write operations:write": """
        POST /api/alterations
    """,
    "operations:read": """
        GET /api/dead-letters
        GET /api/nodes
        GET /api/statistics
        GET /api/stimuli/expired
        GET /metrics
    """,
    "operations:write": """
        POST /api/dead-letters/discard
        POST /api/dead-letters/replay
        POST /api/nodes/this/pause
        POST /api/nodes/this/resume
        POST /api/schedules/{id}/pause
        POST /api/schedules/{id}/resume
        POST /api/stimuli/expired/replay
    """,
    "public": """
        GET /api/auth/info
        POST /api/auth/login
        POST /api/auth/refresh
        GET /api/bookmarks/resume
        POST /api/bookmarks/resume
        GET /api/openapi.json
        HEAD /health
        GET /health
        HEAD /health/ready
        GET /health/ready
    """,
    "settings:read": """
        GET /api/settings
    """,
    "signed-in": """
        POST /api/auth/logout
        GET /api/auth/me
        POST /api/auth/password
    """,
    "tasks:complete": """
        POST /api/tasks/{id}/claim
        POST /api/tasks/{id}/complete
        POST /api/tasks/{id}/release
    """,
    "tasks:read": """
        GET /api/tasks
        GET /api/tasks/{id}
    """,
    "users:read": """
        GET /api/api-keys
        GET /api/roles
        GET /api/users
        GET /api/users/{user}
    """,
    "users:write": """
        POST /api/api-keys
        DELETE /api/api-keys/{key}
        PUT /api/roles/{role}
        DELETE /api/roles/{role}
        POST /api/users
        PATCH /api/users/{user}
        DELETE /api/users/{user}
    """,
}
"""What a route asks for: all of these permissions. Some ask for more of some bodies: tests of their own say which
(`test_security.py`)."""
DOORS = {"/workflows", "/api/live"}
"""No routes of FastAPI: each has tests of its own on who may come in."""
QUESTIONS = {
    "POST /api/definitions/export",
    "POST /api/stimuli/explain",
}
"""Too long for an address: they change nothing, and a permission to read is enough."""
BY_BODY = {"POST /api/instances/bulk"}
"""Asks for the permission that its action needs."""

ASKED = {
    line.strip(): frozenset({"public": PUBLIC, "signed-in": SIGNED_IN}.get(word, word) for word in words.split())
    for words, lines in TABLE.items()
    for line in lines.strip().splitlines()
}


def routes(api: Any) -> Iterator[tuple[str, Any]]:
    """`METHOD path`, and the route."""
    for route in api.routes:
        methods = getattr(route, "methods", None)
        if not methods:
            assert route.path in DOORS, f"{route.path} is neither a route nor a known door"
        for method in sorted(methods or ()):
            yield f"{method} {route.path}", route


@pytest.fixture
async def api(serve: Serve) -> Caller:
    return await serve(Holdfast(store="memory://", entry_points=False, admin_password=PASSWORD), auth=True)


async def test_every_route_stands_in_the_table_with_what_it_asks_for(api: Caller) -> None:
    found = {place: permissions_of(route) for place, route in routes(api.app._api)}
    described = {
        f"{method.upper()} {path}"
        for path, operations in (await api.get("/api/openapi.json"))["paths"].items()
        if not path.startswith("/workflows")
        for method in operations
    }

    assert found == ASKED
    assert described <= ASKED.keys()
    assert all(asked in ({PUBLIC}, {SIGNED_IN}) or asked <= PERMISSIONS.keys() for asked in ASKED.values())


def test_what_changes_something_asks_for_more_than_reading() -> None:
    changing = {place for place, asked in ASKED.items() if not place.startswith(("GET", "HEAD"))}
    reading = {place for place in changing if ASKED[place] and all(word.endswith(":read") for word in ASKED[place])}

    assert reading == QUESTIONS | BY_BODY


@pytest.mark.parametrize("role", [*ROLES, None])
async def test_a_role_gets_what_the_table_says(api: Caller, role: str | None) -> None:
    """Asked for something that is not there, with an empty body: whoever is let in hears that, and nothing else."""
    headers: dict[str, str] = {}
    if role is not None:
        _, key = await api.app.backend.accounts.keys.add(role, roles=[role])
        headers = {"X-Api-Key": key}
    wrong: list[str] = []
    for place, asked in ASKED.items():
        method, path = place.split()
        body: Any = None if method in {"GET", "HEAD"} else {}
        answer = await api.ask(method, re.sub(r"{[^}]*}", "1", path), body, headers=headers)
        if asked == {PUBLIC}:
            is_right = answer.status not in {401, 403} or path.endswith("/resume")
        elif role is None:
            is_right = answer.status == 401
        elif asked == {SIGNED_IN} or asked <= ROLES[role]:
            is_right = answer.status not in {401, 403}
        else:
            is_right = answer.status == 403
        if not is_right:
            wrong.append(f"{place}: {answer.status} {answer.body!r}")

    assert wrong == []
