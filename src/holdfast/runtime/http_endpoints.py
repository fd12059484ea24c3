"""HTTP endpoints at publish: a route belongs to one definition, and a policy must exist.

Judged by the index of triggers, so that it holds whichever process publishes. Two that publish the same route at the same
moment may both pass; the door then refuses to guess between them (409).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.model.catalog import TriggerRow
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem
from holdfast.model.routes import ENDPOINT, parse_route
from holdfast.model.values import TypeRegistry
from holdfast.ports import EndpointPolicies
from holdfast.runtime.durable.encoding import decode_payload
from holdfast.runtime.triggers import placed

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node


Found = tuple[Problem, str]
"""A problem that names its activity, and the place within that."""


async def check_endpoints(node: Node, definition: Definition, rows: Sequence[TriggerRow]) -> list[Problem]:
    """What keeps a definition with these rows from being published."""
    mine = [(row, endpoint_of(row)) for row in rows if row.type == ENDPOINT]
    if not mine:
        return []
    found = await node.store.find_triggers(node.tenant, [row.key for row, _ in mine])
    others = [
        (row, endpoint_of(row))
        for row in found
        if row.type == ENDPOINT and row.definition_id != mine[0][0].definition_id
    ]
    policies = node.services.get(EndpointPolicies).by_name
    problems = [
        *(problem for row, endpoint in mine for problem in _taken(row, endpoint, others)),
        *_twice(mine),
        *(problem for row, endpoint in mine for problem in _policy(row, endpoint, policies)),
    ]
    paths = {activity.id: path for activity, path in placed(definition.root, "/root")}
    return [replace(item, path=f"{paths[item.path]}{place}") for item, place in problems]


def endpoint_of(row: TriggerRow) -> dict[str, Any]:
    """What a trigger's row says of its endpoint."""
    found: dict[str, Any] = decode_payload(row.payload, TypeRegistry())
    return found


def place_of(endpoint: dict[str, Any]) -> tuple[str, str]:
    """What may be there once: the route without the names of its parameters, and the method."""
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


def _twice(mine: Sequence[tuple[TriggerRow, dict[str, Any]]]) -> list[Found]:
    seen: dict[tuple[str, str], str] = {}
    problems: list[Found] = []
    for row, endpoint in mine:
        first = seen.setdefault(place_of(endpoint), row.activity_id)
        if first != row.activity_id:
            told = f"{endpoint['method'].upper()} {endpoint['template']} starts this workflow at two activities: '{first}' and"
            problems.append(
                _problem(row, "path", "route-taken", f"{told} '{row.activity_id}'.", "Give each a path of its own.")
            )
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
