"""Tells before and after each dispatch, whichever dispatcher does it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, overload

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

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime


class Announced:
    """Tells before a request is handed to the dispatcher, and after it was accepted; waits for the burst, if it is asked to."""

    def __init__(self, runtime: Runtime, inner: WorkflowDispatcher) -> None:
        self._runtime = runtime
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
        seen = 0 if wait is None else await validation.version_of(self._runtime, request)
        if telemetry.listeners:
            telemetry.emit("request.dispatching", request=kind, target=target)
        answer = await self.inner.dispatch(request)
        if telemetry.listeners:
            ids = answer.instance_ids if isinstance(answer, Dispatched) else ()
            telemetry.emit("request.dispatched", request=kind, target=target, instance_ids=ids)
        return answer if wait is None else await validation.waited(self._runtime, answer, wait, seen)
