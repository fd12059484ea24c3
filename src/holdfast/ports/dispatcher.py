"""The port of dispatching: how requests for work reach those who do it."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from holdfast.model.requests import DispatchRequest, DispatchResponse


class WorkflowDispatcher(Protocol):
    """Takes requests: to start, to go on, to trigger, to resume, to tell whoever waits.

    Ours is durable: what was accepted is done, also if this process dies. One of your own is given to
    `Holdfast(dispatcher=…)` as a class or function that is called with the runtime. It may carry requests anywhere
    (`holdfast.model.requests.encode_request`) and have them done there by `runtime.inline` or `runtime.durable`; it answers
    with the ids that it knows. A refusal is raised before anything is queued, by one of the named errors:
    `DefinitionNotFound`, `DefinitionNotPublished`, `InstanceNotFound`, `InstanceEnded`, `KeyReused`, `PlaceTaken`.
    """

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        """Accept the request. Answers without waiting for a burst, unless `wait` says how long it may; when that time is
        over, the answer is what is known then, and the work goes on. `runtime.dispatcher` waits by itself, so a dispatcher
        that only carries may ignore it."""
