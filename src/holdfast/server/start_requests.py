"""Start requests of API callers, translated into dispatches."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from holdfast.model.catalog import Which
from holdfast.model.principal import Principal
from holdfast.model.requests import DispatchDefinition, Dispatched
from holdfast.runtime.result import RunResult
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal
from holdfast.server.schemas.definitions import DispatchRequest, DispatchResult, StartRequest
from holdfast.server.schemas.instances import ExecuteResult
from holdfast.server.views import instances as views
from holdfast.server.wait_for_rest import settled
from holdfast.settings import parse_duration


class StartContext(NamedTuple):
    """Principal and relevant headers of a start request."""

    who: Principal
    idempotency_key: str | None = None
    correlation_id: str | None = None
    trace: str | None = None


class Starter:
    def __init__(self, server: Backend, context: StartContext) -> None:
        self._server = server
        self._context = context

    async def execute(self, definition_id: str, body: StartRequest) -> tuple[ExecuteResult, bool]:
        """The result, and whether the instance came to rest in time."""
        server = self._server
        dispatched, answer = await server.runtime.inline.begin(self._request(definition_id, body))
        if answer is not None and answer.result is not None and answer.version and answer.result.status.at_rest:
            return self._view(answer.result, answer.version, existing=False), True
        name = self._named(dispatched)
        existing = bool(dispatched.existing)
        # A repeated request waits like the first one. The instance of another caller in the activation slot is not awaited.
        is_others = existing and self._context.idempotency_key is None
        is_settled = is_others or await settled(server, name, server.engine.settings.execute_wait)
        row, result = await views.read(server, name)
        view = self._view(result, row.version, existing=existing)
        if existing and not self._context.who.may("instances:read") and not self._is_mine(result):
            view = view.model_copy(update={"outputs": {}, "bookmarks": [], "incidents": []})
        return view, is_settled

    def _is_mine(self, result: RunResult) -> bool:
        """Whether the caller started the instance: another caller may have used the same key."""
        return result._live.principal == self._context.who.name

    def _view(self, result: RunResult, position: int, *, existing: bool) -> ExecuteResult:
        links = self._context.who.may("instances:write")
        return views.execute_result_of(self._server, result, position, existing=existing, links=links)

    async def dispatch(self, definition_id: str, body: DispatchRequest) -> DispatchResult:
        answer = await self._server.runtime.dispatcher.dispatch(self._request(definition_id, body))
        assert isinstance(answer, Dispatched)
        ids = answer.instance_ids or answer.existing
        return DispatchResult(instance_ids=list(ids), status=str(answer.status), existing=bool(answer.existing))

    def _named(self, answer: Dispatched) -> str:
        name = answer.instance_id
        if name is None or answer.deleted:
            raise Refusal(409, "idempotency.deleted", "The instance started with this key was deleted. Use a new key.")
        return name

    def _request(self, definition_id: str, body: StartRequest) -> DispatchDefinition:
        context = self._context
        more = body if isinstance(body, DispatchRequest) else _NOTHING_MORE
        return DispatchDefinition(
            definition_id=definition_id,
            version=body.version if isinstance(body.version, int) else Which(body.version),
            input=body.input,
            correlation_id=body.correlation_id or context.correlation_id,
            instance_id=body.instance_id,
            name=body.name,
            trigger_activity_id=body.start_at,
            properties=body.properties,
            priority=more.priority,
            queue=more.queue,
            delay=None if more.delay is None else duration(more.delay),
            idempotency_key=more.idempotency_key or context.idempotency_key,
            principal=context.who.name,
            trace=context.trace,
        )


_NOTHING_MORE = DispatchRequest()


def duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except (ValueError, TypeError, OverflowError) as error:
        raise Refusal(
            422, "duration.invalid", f"'{text}' is not a duration. Write 10s, 5m, 2h, 1d or PT1M30S."
        ) from error
