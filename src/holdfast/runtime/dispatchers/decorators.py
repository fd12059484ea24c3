"""Dispatchers that wrap a dispatcher: priorities, queues and rate limits.

Holdfast(dispatcher=lambda runtime: Prioritized(runtime.durable, lambda request: 5 if … else 0))
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import timedelta

from msgspec.structs import replace

from holdfast.model.requests import (
    DispatchDefinition,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchStimulus,
)
from holdfast.ports import WorkflowDispatcher

KEYS_MAX = 10_000
"""Keys that a rate limit remembers."""


def target_of(request: DispatchRequest) -> str:
    """The target of a request: the definition, the instance, the event, or the activity type."""
    if isinstance(request, DispatchDefinition):
        return request.definition_id
    if isinstance(request, DispatchInstance):
        return request.instance_id
    if isinstance(request, DispatchStimulus):
        return request.event_name or request.type
    return request.activity_type


class Prioritized:
    """Sets the priority of requests that have none."""

    def __init__(self, inner: WorkflowDispatcher, priority: Callable[[DispatchRequest], int]) -> None:
        self._inner = inner
        self._priority = priority

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        if not request.priority:
            request = replace(request, priority=self._priority(request))
        return await self._inner.dispatch(request, wait=wait)


class Routed:
    """Sets the queue of requests that have none: by their target, or by a function."""

    def __init__(
        self,
        inner: WorkflowDispatcher,
        routes: Mapping[str, str] | Callable[[DispatchRequest], str | None],
    ) -> None:
        self._inner = inner
        self._route = routes if callable(routes) else lambda request: routes.get(target_of(request))

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        if request.queue is None:
            request = replace(request, queue=self._route(request))
        return await self._inner.dispatch(request, wait=wait)


class RateLimited:
    """Accepts every request and delays requests above the rate: at most `limit` per `period` and key are due.

    Requests are counted in this process. The delay is added to the delay of the request.
    """

    def __init__(
        self,
        inner: WorkflowDispatcher,
        *,
        limit: int,
        period: timedelta = timedelta(seconds=1),
        key: Callable[[DispatchRequest], str] = target_of,
    ) -> None:
        if limit < 1 or period <= timedelta(0):
            raise ValueError("a rate limit needs at least one request in a period above zero")
        self._inner = inner
        self._gap = period.total_seconds() / limit
        self._burst = period.total_seconds() - self._gap
        self._key = key
        self._full: OrderedDict[str, float] = OrderedDict()
        """Per key the moment until which its rate is used (a leaky bucket)."""

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        delay = self._delay(self._key(request))
        if delay > 0:
            request = replace(request, delay=(request.delay or timedelta(0)) + timedelta(seconds=delay))
        return await self._inner.dispatch(request, wait=wait)

    def _delay(self, key: str) -> float:
        now = asyncio.get_running_loop().time()
        full = max(self._full.get(key, now), now)
        self._full[key] = full + self._gap
        self._full.move_to_end(key)
        if len(self._full) > KEYS_MAX:
            self._full.popitem(last=False)
        return max(0.0, full - now - self._burst)
