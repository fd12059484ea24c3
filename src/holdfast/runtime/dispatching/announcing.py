"""Tells before and after each dispatch, whichever dispatcher does it."""

from __future__ import annotations

from datetime import timedelta

from holdfast import telemetry
from holdfast.model.requests import Dispatched, DispatchRequest, DispatchResponse
from holdfast.ports import WorkflowDispatcher
from holdfast.runtime.dispatching.decorators import target_of


class Announced:
    def __init__(self, inner: WorkflowDispatcher) -> None:
        self.inner = inner

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        kind, target = request.__struct_config__.tag, target_of(request)
        if telemetry.listeners:
            telemetry.emit("request.dispatching", request=kind, target=target)
        answer = await self.inner.dispatch(request, wait=wait)
        if telemetry.listeners:
            ids = answer.instance_ids if isinstance(answer, Dispatched) else ()
            telemetry.emit("request.dispatched", request=kind, target=target, instance_ids=ids)
        return answer
