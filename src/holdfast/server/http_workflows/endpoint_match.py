"""Matching of HTTP requests with endpoints: a trigger that starts an instance, or a bookmark that waits.

A request that names an instance or a correlation id resumes a bookmark of it, if one fits; otherwise a trigger starts. A request
without such an address starts a trigger, and resumes a bookmark only if exactly one waits at that route.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from holdfast.errors import InstanceEnded, InstanceNotFound
from holdfast.management.definitions.http_routes import endpoint_of
from holdfast.model.catalog import TriggerRow
from holdfast.model.instance import Bookmark
from holdfast.model.routes import ENDPOINT, METHODS, Route, parse_route, request_keys
from holdfast.model.stored import BookmarkQuery, correlation_key
from holdfast.model.wake_keys import key_of
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult
from holdfast.server.problems import Refusal

CANDIDATES_MAX = 20


class Address(Struct, frozen=True, kw_only=True):
    """The instance or correlation id that a request names."""

    instance_id: str | None = None
    correlation_id: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.instance_id is None and self.correlation_id is None


class Match(Struct, frozen=True, kw_only=True):
    endpoint: Mapping[str, Any]
    """Options of the endpoint activity: authorize, policy, limits."""
    values: Mapping[str, str]
    """Values of the route's parameters."""
    rank: tuple[int, ...]
    trigger: TriggerRow | None = None
    instance_id: str | None = None
    bookmark_id: str | None = None


class Matcher:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def find(self, parts: Sequence[str], method: str, address: Address) -> Match:
        """Raises a `Refusal` (404, 405, 409), or the error of the addressed instance."""
        found = await self._any(parts, method, address)
        if not found:
            # The cached definitions may be out of date: query the epoch before the refusal.
            runtime = self._runtime
            runtime.plans.current.saw(await runtime.store.epoch())
            found = await self._any(parts, method, address)
        if not found:
            await self._refuse(parts, method, address)
        best = min(item.rank for item in found)
        meant = [item for item in found if item.rank == best]
        if len(meant) > 1 and (meant[0].trigger is not None or address.is_empty):
            raise Refusal(
                409,
                "route.ambiguous",
                f"{len(meant)} workflows or instances wait at this route. Name one: X-Workflow-Instance-Id or "
                "X-Correlation-Id.",
            )
        return meant[0]

    async def _any(self, parts: Sequence[str], method: str, address: Address) -> list[Match]:
        found = await self._matches(parts, method, address)
        if not found and method == "HEAD":
            return await self._matches(parts, "GET", address)
        return found

    async def _matches(self, parts: Sequence[str], method: str, address: Address) -> list[Match]:
        """By precedence: bookmarks of the addressed instance, then triggers, then any bookmark."""
        keys = [_wake_key(key["route"], key["method"]) for key in request_keys(parts, method)]
        if not address.is_empty and (named := await self._bookmarks(keys, parts, method, address)):
            return named
        started = await self._triggers(keys, parts)
        if started or not address.is_empty:
            return started
        return await self._bookmarks(keys, parts, method, address)

    async def _triggers(self, keys: Sequence[int], parts: Sequence[str]) -> list[Match]:
        rows = await self._runtime.plans.current.triggers(keys)
        found = []
        for row in rows:
            if row.type != ENDPOINT:
                continue
            endpoint = endpoint_of(row)
            route = parse_route(endpoint["template"])
            values = route.match(parts)
            if values is not None:
                found.append(Match(endpoint=endpoint, values=values, rank=route.rank, trigger=row))
        return found

    async def _bookmarks(self, keys: Sequence[int], parts: Sequence[str], method: str, address: Address) -> list[Match]:
        """Oldest first."""
        runtime = self._runtime
        if address.instance_id is not None:
            try:
                result = await self._runtime.read(address.instance_id)
            except InstanceNotFound:
                return []
            return _in(result, parts, method)
        correlation = correlation_key(address.correlation_id)
        queries = [
            BookmarkQuery(tenant=runtime.tenant, key=key, correlation=correlation, limit=CANDIDATES_MAX) for key in keys
        ]
        rows = [row for group in (await runtime.store.find_bookmarks(queries)).bookmarks for row in group]
        rows.sort(key=lambda row: (row.created, row.instance_id, row.seq))
        found: list[Match] = []
        for instance_id in dict.fromkeys(row.instance_id for row in rows if row.type == ENDPOINT):
            try:
                result = await self._runtime.read(instance_id)
            except InstanceNotFound:
                continue
            if address.correlation_id in {None, result.correlation_id}:
                found.extend(_in(result, parts, method))
        return found

    async def _refuse(self, parts: Sequence[str], method: str, address: Address) -> None:
        allowed = [other for other in METHODS if other != method and await self._matches(parts, other, address)]
        if allowed:
            raise Refusal(
                405,
                "method.not_allowed",
                f"{method} is not allowed here. Allowed: {', '.join(allowed)}.",
                headers={"Allow": ", ".join(allowed)},
            )
        if address.instance_id is not None:
            row = await self._runtime.row(address.instance_id)  # raises InstanceNotFound
            if row.finished is not None:
                raise InstanceEnded(row.id, row.status)
        raise Refusal(404, "route.not_found", f"No workflow waits at {method} /{'/'.join(parts)}.")


@lru_cache(4096)
def _wake_key(route: str, method: str) -> int:
    return key_of(ENDPOINT, {"route": route, "method": method})


def _in(result: RunResult, parts: Sequence[str], method: str) -> list[Match]:
    """Endpoints at which an instance waits."""
    found = []
    for mark in result.bookmarks:
        if mark.name != ENDPOINT or mark.metadata.get("method") != method.lower():
            continue
        route = _route(mark)
        values = route.match(parts)
        if values is not None:
            found.append(
                Match(
                    endpoint=mark.metadata,
                    values=values,
                    rank=route.rank,
                    instance_id=result.instance_id,
                    bookmark_id=mark.id,
                )
            )
    return found


def _route(mark: Bookmark) -> Route:
    return parse_route(str(mark.metadata["template"]))
