"""HTTP endpoints at publish: a route belongs to one definition, and a policy must exist.

The checks read the trigger index of the store, so they hold for all processes. A process that publishes claims each route by a
record: of two processes that publish the same route at the same time, one is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from holdfast.errors import InvalidDefinition
from holdfast.management.payloads import read_payload
from holdfast.model.catalog import TriggerRow
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem
from holdfast.model.record_rows import RecordRow
from holdfast.model.routes import ENDPOINT, parse_route
from holdfast.ports import EndpointPolicies
from holdfast.runtime.facade import Runtime
from holdfast.runtime.plans.triggers import placed

ROUTE = "http-route"
"""The kind of the records that claim a route during a publish."""
CLAIM_TIMEOUT = timedelta(minutes=1)
"""Age at which a claim is free again: its process died."""
Found = tuple[Problem, str]
"""A problem whose path is the id of its activity, and the path inside of the activity."""


@asynccontextmanager
async def held_routes(runtime: Runtime, definition: Definition, rows: Sequence[TriggerRow]) -> AsyncIterator[None]:
    """Claim the routes of a definition from before they are checked until they are in the index. Raises `InvalidDefinition`."""
    mine = {_route_id(endpoint): row for row in rows if row.type == ENDPOINT for endpoint in [endpoint_of(row)]}
    held: list[str] = []
    try:
        for name in sorted(mine):
            holder = await _hold(runtime, name, definition.id)
            if holder is None:
                held.append(name)
            elif holder != definition.id:
                raise InvalidDefinition(_at_place(definition, [_claimed(mine[name], holder)]))
        yield
    finally:
        for name in held:
            await runtime.store.delete_record(runtime.tenant, ROUTE, name)


async def _hold(runtime: Runtime, name: str, definition_id: str) -> str | None:
    """Claim a route. Returns None, or the definition that holds the claim: another definition, or the same one if another
    process publishes it too. The claim of a dead process expires."""
    now = await runtime.store.now()
    wanted = RecordRow(
        tenant=runtime.tenant,
        kind=ROUTE,
        id=name,
        owner=definition_id,
        due=now + CLAIM_TIMEOUT,
        created=now,
        updated=now,
    )
    if await runtime.store.put_record(wanted):
        return None
    there = await runtime.store.get_record(runtime.tenant, ROUTE, name)
    if there is None:
        return await _hold(runtime, name, definition_id)  # It was released meanwhile.
    is_over = there.due is not None and there.due <= now
    if is_over and await runtime.store.put_record(replace(wanted, version=there.version + 1)):
        return None
    return there.owner


def _route_id(endpoint: dict[str, Any]) -> str:
    return sha256("\0".join(place_of(endpoint)).encode()).hexdigest()


def _claimed(row: TriggerRow, holder: str) -> Found:
    endpoint = endpoint_of(row)
    message = f"{endpoint['method'].upper()} {endpoint['template']} is being published with the workflow '{holder}'."
    return _problem(
        row, "path", "route-taken", message, "Choose another path, or publish again when that publish has ended."
    )


async def check_endpoints(
    runtime: Runtime, definition: Definition, rows: Sequence[TriggerRow], beside: Sequence[TriggerRow] = ()
) -> list[Problem]:
    """The problems that prevent a publish of these rows; `beside` are rows that will be in the index by then."""
    mine = [(row, endpoint_of(row)) for row in rows if row.type == ENDPOINT]
    if not mine:
        return []
    found = await runtime.store.find_triggers(runtime.tenant, [row.key for row, _ in mine])
    others = [
        (row, endpoint_of(row))
        for row in (*found, *beside)
        if row.type == ENDPOINT and row.definition_id != mine[0][0].definition_id
    ]
    policies = runtime.services.get(EndpointPolicies).by_name
    problems = [
        *(problem for row, endpoint in mine for problem in _taken(row, endpoint, others)),
        *_duplicates(mine),
        *(problem for row, endpoint in mine for problem in _policy(row, endpoint, policies)),
    ]
    return _at_place(definition, problems)


def _at_place(definition: Definition, problems: Iterable[Found]) -> list[Problem]:
    paths = {activity.id: path for activity, path in placed(definition.root, "/root")}
    return [replace(item, path=f"{paths[item.path]}{place}") for item, place in problems]


def endpoint_of(row: TriggerRow) -> dict[str, Any]:
    """The endpoint of a trigger row."""
    endpoint: dict[str, Any] = read_payload(row.payload)
    return endpoint


def place_of(endpoint: dict[str, Any]) -> tuple[str, str]:
    """The unique key of an endpoint: the route without the names of its parameters, and the method."""
    return parse_route(endpoint["template"]).shape, endpoint["method"]


def _taken(
    row: TriggerRow, endpoint: dict[str, Any], others: Iterable[tuple[TriggerRow, dict[str, Any]]]
) -> list[Found]:
    return [
        _problem(
            row,
            "path",
            "route-taken",
            f"{endpoint['method'].upper()} {endpoint['template']} belongs to the workflow '{other.definition_id}'.",
            "Choose another path, or retract that workflow first.",
        )
        for other, their in others
        if place_of(their) == place_of(endpoint)
    ]


def _duplicates(mine: Sequence[tuple[TriggerRow, dict[str, Any]]]) -> list[Found]:
    seen: dict[tuple[str, str], str] = {}
    problems: list[Found] = []
    for row, endpoint in mine:
        first = seen.setdefault(place_of(endpoint), row.activity_id)
        if first != row.activity_id:
            route = f"{endpoint['method'].upper()} {endpoint['template']}"
            message = f"{route} starts this workflow at two activities: '{first}' and '{row.activity_id}'."
            problems.append(_problem(row, "path", "route-taken", message, "Give each activity a path of its own."))
    return problems


def _policy(row: TriggerRow, endpoint: dict[str, Any], policies: Mapping[str, Any]) -> list[Found]:
    name = endpoint.get("policy")
    if not name or name in policies:
        return []
    known = ", ".join(sorted(policies)) or "none"
    return [
        _problem(
            row,
            "policy",
            "unknown-policy",
            f"There is no policy '{name}'.",
            f"Register it: Holdfast(policies={{'{name}': …}}); registered: {known}.",
        )
    ]


def _problem(row: TriggerRow, field: str, code: str, message: str, remedy: str) -> Found:
    return Problem(path=row.activity_id, code=code, message=message, remedy=remedy), f"/inputs/{field}"
