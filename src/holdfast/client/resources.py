"""Resources of the API, with one method per call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from holdfast.client import types as t
from holdfast.client.calls import Calls, path_of

PAGE_SIZE = 200
"""Page size of `all`."""


class _Resource:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls


class DefinitionCalls(_Resource):
    async def list(self, **query: Any) -> t.Page[t.DefinitionSummary]:
        """Filters: search, label, folder, state, sort, limit, cursor."""
        return await self._calls.get(t.Page[t.DefinitionSummary], "/definitions", query)

    async def get(self, id: str, version: int | str = "latest") -> t.DefinitionDetail:
        return await self._calls.get(t.DefinitionDetail, path_of("definitions", id), {"version": version})

    async def create(self, document: Mapping[str, Any]) -> t.DefinitionDetail:
        return await self._calls.post(t.DefinitionDetail, "/definitions", document)

    async def save(self, id: str, document: Mapping[str, Any], *, etag: str | None = None) -> t.DefinitionDetail:
        """Write the draft. With `etag`, only if the content still matches (otherwise 412)."""
        headers = {} if etag is None else {"if-match": f'"{etag.strip(chr(34))}"'}
        return await self._calls.put(t.DefinitionDetail, path_of("definitions", id), document, headers=headers)

    async def publish(self, id: str, version: int | None = None) -> t.PublishResult:
        return await self._calls.post(
            t.PublishResult, path_of("definitions", id, "publish"), query={"version": version}
        )

    async def retract(self, id: str) -> t.DefinitionSummary:
        return await self._calls.post(t.DefinitionSummary, path_of("definitions", id, "retract"))

    async def delete(self, id: str) -> None:
        await self._calls.delete(path_of("definitions", id))

    async def versions(self, id: str) -> t.Page[t.DefinitionSummary]:
        return await self._calls.get(t.Page[t.DefinitionSummary], path_of("definitions", id, "versions"))

    async def export(
        self, id: str, format: str = "holdfast", *, version: int | str = "latest", untangle: bool = False
    ) -> bytes:
        """The definition as a file: `holdfast` or `elsa` (JSON), or `python`, a module of objects."""
        query = {"format": format, "version": version, "untangle": untangle}
        return await self._calls.fetch(path_of("definitions", id, "export"), query)

    async def execute(
        self, id: str, input: Mapping[str, Any] | None = None, *, idempotency_key: str | None = None, **options: Any
    ) -> t.InstanceResult:
        """Start and wait up to 30 s until it ends or waits. Options: correlation_id, name, version, start_at."""
        return await self._calls.post(
            t.InstanceResult,
            path_of("definitions", id, "execute"),
            {"input": dict(input or {}), **options},
            headers=_key(idempotency_key),
        )

    async def dispatch(
        self, id: str, input: Mapping[str, Any] | None = None, *, idempotency_key: str | None = None, **options: Any
    ) -> t.DispatchResult:
        """Start without waiting. Options as for `execute`, and priority, queue, delay, properties."""
        return await self._calls.post(
            t.DispatchResult,
            path_of("definitions", id, "dispatch"),
            {"input": dict(input or {}), **options},
            headers=_key(idempotency_key),
        )


class InstanceCalls(_Resource):
    async def list(self, **query: Any) -> t.Page[t.InstanceItem]:
        """Filters: status, definition_id, correlation_id, search, has_incidents, created_after …, sort, limit, cursor."""
        return await self._calls.get(t.Page[t.InstanceItem], "/instances", query)

    async def all(self, **query: Any) -> AsyncIterator[t.InstanceItem]:
        """Every matching instance, page by page."""
        cursor: str | None = None
        while True:
            page = await self.list(**{"limit": PAGE_SIZE, **query, "cursor": cursor})
            for item in page.items:
                yield item
            cursor = page.next
            if cursor is None:
                return

    async def get(self, id: str) -> t.InstanceDetail:
        return await self._calls.get(t.InstanceDetail, path_of("instances", id))

    async def journal(self, id: str, *, after: int = 0, skip: int = 0, limit: int = 1000) -> t.JournalPage:
        """A page of the journal. Continue with `next` and `skip` of the page as `after` and `skip`."""
        return await self._calls.get(
            t.JournalPage, path_of("instances", id, "journal"), {"after": after, "skip": skip, "limit": limit}
        )

    async def cancel(self, id: str, *, terminate: bool = False, why: str | None = None) -> t.InstanceResult:
        body = {"terminate": terminate, "why": why}
        return await self._calls.post(t.InstanceResult, path_of("instances", id, "cancel"), body)

    async def retry(
        self,
        id: str,
        *,
        activity_id: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        why: str | None = None,
    ) -> t.InstanceResult:
        body = {"activity_id": activity_id, "inputs": inputs, "why": why}
        return await self._calls.post(t.InstanceResult, path_of("instances", id, "retry"), body)

    async def resume(
        self, id: str, bookmark_id: str | None = None, payload: Any = None, *, idempotency_key: str | None = None
    ) -> t.InstanceResult:
        body = {"bookmark_id": bookmark_id, "payload": payload}
        return await self._calls.post(
            t.InstanceResult, path_of("instances", id, "resume"), body, headers=_key(idempotency_key)
        )

    async def skip(
        self, id: str, activity_id: str, *, outcome: str | None = None, why: str | None = None
    ) -> t.InstanceResult:
        """Continue as if a failed or waiting activity had completed."""
        body = {"activity_id": activity_id, "outcome": outcome, "why": why}
        return await self._calls.post(t.InstanceResult, path_of("instances", id, "skip"), body)

    async def recover(self, id: str, *, why: str | None = None) -> t.Done:
        """Run held effects of lost processes again. Returns how many."""
        return await self._calls.post(t.Done, path_of("instances", id, "recover"), {"why": why})

    async def moments(self, id: str) -> t.MomentList:
        """Versions with a stored state, oldest first (the setting `history = snapshots`)."""
        return await self._calls.get(t.MomentList, path_of("instances", id, "moments"))

    async def at(self, id: str, version: int) -> t.MomentDetail:
        """The instance after that commit."""
        return await self._calls.get(t.MomentDetail, path_of("instances", id, "moments", str(version)))

    async def fork(self, id: str, *, version: int | None = None, why: str | None = None) -> t.ImportedInstance:
        """A new instance that continues from the current state, or from the stored state of a version."""
        body = {"version": version, "why": why}
        return await self._calls.post(t.ImportedInstance, path_of("instances", id, "fork"), body)

    async def delete(self, id: str) -> None:
        await self._calls.delete(path_of("instances", id))

    async def bulk(
        self,
        action: str,
        ids: Sequence[str] = (),
        *,
        filter: Mapping[str, Any] | None = None,
        why: str | None = None,
    ) -> t.InstancesBulkResult:
        """`cancel`, `retry` or `delete` these instances or all that match; each in its own commit."""
        body = {"action": action, "ids": list(ids), "filter": filter, "why": why}
        return await self._calls.post(t.InstancesBulkResult, "/instances/bulk", body)


class TaskCalls(_Resource):
    async def list(self, **query: Any) -> t.Page[t.TaskItem]:
        """Filters: mine, state, role, limit, cursor."""
        return await self._calls.get(t.Page[t.TaskItem], "/tasks", query)

    async def get(self, id: str) -> t.TaskItem:
        return await self._calls.get(t.TaskItem, path_of("tasks", id))

    async def claim(self, id: str) -> t.TaskItem:
        return await self._calls.post(t.TaskItem, path_of("tasks", id, "claim"))

    async def release(self, id: str) -> t.TaskItem:
        return await self._calls.post(t.TaskItem, path_of("tasks", id, "release"))

    async def complete(self, id: str, answer: Any = None) -> t.TaskItem:
        return await self._calls.post(t.TaskItem, path_of("tasks", id, "complete"), {"answer": answer})


class ScheduleCalls(_Resource):
    async def list(self) -> t.Page[t.ScheduleItem]:
        return await self._calls.get(t.Page[t.ScheduleItem], "/schedules")

    async def next(self, id: str, count: int = 5) -> t.NextTimes:
        return await self._calls.get(t.NextTimes, path_of("schedules", id, "next"), {"count": count})

    async def pause(self, id: str) -> None:
        await self._calls.post(Any, path_of("schedules", id, "pause"))

    async def resume(self, id: str) -> None:
        await self._calls.post(Any, path_of("schedules", id, "resume"))

    async def run(self, id: str) -> t.StartedNow:
        return await self._calls.post(t.StartedNow, path_of("schedules", id, "run"))


class StimulusCalls(_Resource):
    async def expired(self, limit: int = 50) -> list[t.ExpiredStimulusItem]:
        """Stimuli that expired unread in the last week, newest first."""
        return await self._calls.get(list[t.ExpiredStimulusItem], "/stimuli/expired", {"limit": limit})

    async def replay_expired(self, ids: Sequence[str]) -> t.Done:
        """Match expired stimuli again."""
        return await self._calls.post(t.Done, "/stimuli/expired/replay", {"ids": list(ids)})


class DeadLetterCalls(_Resource):
    async def list(self, **query: Any) -> t.Page[t.DeadLetterItem]:
        return await self._calls.get(t.Page[t.DeadLetterItem], "/dead-letters", query)

    async def replay(self, ids: Sequence[str]) -> t.Done:
        return await self._calls.post(t.Done, "/dead-letters/replay", {"ids": list(ids)})

    async def discard(self, ids: Sequence[str]) -> t.Done:
        return await self._calls.post(t.Done, "/dead-letters/discard", {"ids": list(ids)})


def _key(idempotency_key: str | None) -> dict[str, str]:
    return {} if idempotency_key is None else {"idempotency-key": idempotency_key}
