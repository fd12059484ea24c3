"""Port of the dispatcher: accepts requests for work and gets them executed."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from holdfast.model.requests import DispatchRequest, DispatchResponse


class WorkflowDispatcher(Protocol):
    """Accepts requests to start, continue, trigger or resume instances and to publish events.

    The default dispatcher is durable: an accepted request is executed even if this process dies. Pass your own to
    `Holdfast(dispatcher=…)` as a class or function that is called with the runtime. It may send requests to another
    process (`holdfast.model.requests.encode_request`) that executes them with `runtime.inline` or `runtime.durable`. The
    response contains the ids that are known at that time. A request is refused before it is queued, with one of
    `DefinitionNotFound`, `DefinitionNotPublished`, `InstanceNotFound`, `InstanceEnded`, `KeyReused`, `PlaceTaken`.
    """

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        """Accept the request and return without waiting for its execution.

        With `wait`, return after the burst or after that time; the response then holds the state so far, and the work
        continues. `runtime.dispatcher` implements the waiting itself, so a dispatcher that only forwards requests may
        ignore `wait`."""
