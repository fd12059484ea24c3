"""Events before and after each dispatch, independent of the dispatcher."""

from __future__ import annotations

from datetime import timedelta
from typing import overload

from holdfast import telemetry
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
    Receipt,
)
from holdfast.ports import WorkflowDispatcher
from holdfast.runtime.dispatchers import validation
from holdfast.runtime.dispatchers.decorators import target_of
from holdfast.runtime.dispatchers.host import DispatchHost


class AnnouncedDispatcher:
    """Emits an event before and after each request of another dispatcher, and waits for the burst if the caller wants it."""

    def __init__(self, host: DispatchHost, inner: WorkflowDispatcher) -> None:
        self._host = host
        self.inner = inner

    @overload
    async def dispatch(self, request: DispatchStimulus, *, wait: timedelta | None = None) -> Receipt: ...
    @overload
    async def dispatch(
        self,
        request: DispatchDefinition | DispatchInstance | DispatchTrigger | DispatchResume,
        *,
        wait: timedelta | None = None,
    ) -> Dispatched: ...
    @overload
    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse: ...
    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        kind, target = str(request.__struct_config__.tag), target_of(request)
        seen = 0 if wait is None else await validation.version_of(self._host, request)
        if telemetry.listeners:
            telemetry.emit("request.dispatching", tenant=self._host.tenant, request=kind, target=target)
        answer = await self.inner.dispatch(request)
        if telemetry.listeners:
            ids = answer.instance_ids if isinstance(answer, Dispatched) else ()
            telemetry.emit(
                "request.dispatched", tenant=self._host.tenant, request=kind, target=target, instance_ids=ids
            )
        return answer if wait is None else await validation.waited(self._host, answer, wait, seen)
