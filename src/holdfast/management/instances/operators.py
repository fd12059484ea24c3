"""Operator actions: retry, recover, skip, resume, cancel, delete, dead letters. For one instance, or for all that match a filter.

Each action takes `who` and `why`, which the journal records. A repeated action changes nothing, and its answer says so. A bulk
action reads a list, which may lag; so each instance is tested again in its own commit (rule M7).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import BookmarkNotFound, DeletionRefused, EffectHeld, HoldfastError
from holdfast.execution.plan import Outcome
from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.work import DeadLetterRow, WorkKind, WorkRow
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import slot_taken
from holdfast.runtime.commits.jobs.operator import (
    JournalNote,
    OperatorCancel,
    OperatorRequest,
    OperatorResume,
    OperatorRetry,
    OperatorSkip,
    RecoverEffect,
    ReplayJob,
)
from holdfast.runtime.commits.work_rows import read_replay
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult

logger = logging.getLogger("holdfast")

PAGE = 100
RETRIED = (Status.FAULTED.value, Status.SUSPENDED.value, Status.RUNNING.value)
CANCELED = tuple(status.value for status in Status if status not in (Status.FINISHED, Status.CANCELED))
DELETED = tuple(status.value for status in Status if status.at_rest)
"""Statuses of instances that the bulk actions retry, cancel and delete."""


class Done(Struct, frozen=True, kw_only=True):
    """The result of an action."""

    instance_id: str
    changed: bool
    """False: there was nothing to do."""
    status: str
    version: int
    """The version of the instance after the action: a list can be requested that includes it."""


class Failure(Struct, frozen=True, kw_only=True):
    instance_id: str
    message: str


class BulkDone(Struct, frozen=True, kw_only=True):
    changed: int = 0
    unchanged: int = 0
    """Instances that did not match any more, or had nothing to do."""
    failed: tuple[Failure, ...] = ()


class Operators:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    # -- one instance --------------------------------------------------------------------------------------------------

    async def retry(
        self,
        instance_id: str,
        activity_id: str | None = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        who: str,
        why: str | None = None,
    ) -> Done:
        """Run failed activities again. With `inputs` (of an effect) it is a new execution with its own key (rule H3). A faulted
        instance takes its slot again, or is refused (rule M2). Raises `EffectHeld` if no activity failed and an effect is
        held."""
        await self._check_slot(instance_id)
        done = await self._one(
            OperatorRetry(self._runtime.key(instance_id), OperatorRequest(who, why), activity_id, inputs)
        )
        if not done.changed and (held := await self._runtime.held_effects(instance_id)):
            raise EffectHeld(instance_id, [row.activity_id for row in held])
        return done

    async def recover(self, instance_id: str, *, who: str, why: str | None = None) -> int:
        """Run held effects (`on_lost: hold`) again; returns their number."""
        await self._runtime.row(instance_id)
        request, held = OperatorRequest(who, why), await self._runtime.held_effects(instance_id)
        return sum(
            [await self._answered(RecoverEffect(self._runtime.key(instance_id), request, row.ref)) for row in held]
        )

    async def skip(
        self,
        instance_id: str,
        activity_id: str,
        *,
        outcome: Outcome = None,
        who: str,
        why: str | None = None,
        may_answer: bool = True,
    ) -> Done:
        """Skip an activity that failed, waits or runs. Without `may_answer`, human tasks cannot be skipped."""
        await self._check_slot(instance_id)
        request = OperatorRequest(who, why, may_answer=may_answer)
        return await self._one(OperatorSkip(self._runtime.key(instance_id), request, activity_id, outcome))

    async def resume(
        self, instance_id: str, bookmark_id: str | None = None, payload: Any = None, *, who: str, why: str | None = None
    ) -> Done:
        """Resume a bookmark: the only one, if none is named."""
        if bookmark_id is None:
            waiting = (await self._runtime.read(instance_id)).bookmarks
            if len(waiting) != 1:
                listed = [f"{item.id} ({item.activity_id})" for item in waiting]
                raise BookmarkNotFound("(none named)", instance_id=instance_id, open_ids=listed)
            bookmark_id = waiting[0].id
        return await self._one(
            OperatorResume(self._runtime.key(instance_id), OperatorRequest(who, why), bookmark_id, payload)
        )

    async def resume_and_read(
        self, instance_id: str, bookmark_id: str | None, payload: Any, *, who: str, may_answer: bool = True
    ) -> tuple[RunResult, int] | None:
        """Resume a bookmark (the only one, if none is named); returns the instance as the commit left it, with its version, or
        None if the commit changed nothing. Without `may_answer`, human tasks cannot be resumed."""
        if bookmark_id is None:
            bookmark_id = self._runtime.only_bookmark(await self._runtime.read(instance_id)).id
        request = OperatorRequest(who, may_answer=may_answer)
        job = OperatorResume(self._runtime.key(instance_id), request, bookmark_id, payload)
        answer = await self._runtime.ask(job)
        return (answer.result, answer.version) if answer.result is not None and answer.version else None

    async def cancel(self, instance_id: str, *, terminate: bool = False, who: str, why: str | None = None) -> Done:
        """Cancel the instance and the children that it waits for. `terminate` skips `finally` and compensations (rule M1)."""
        return await self._one(
            OperatorCancel(self._runtime.key(instance_id), OperatorRequest(who, why), terminate=terminate)
        )

    async def delete(self, instance_id: str, *, terminate: bool = False, who: str, why: str | None = None) -> bool:
        """Delete an ended instance from every table; False if there is none. A live instance is refused, or terminated first. Its
        journal is deleted too, so the log records the operator."""
        if terminate:
            await self.cancel(instance_id, terminate=True, who=who, why=why)
        gone = await self._runtime.store.delete_instances(self._runtime.tenant, [instance_id])
        self._runtime.forget(instance_id)
        if gone:
            logger.info("instance %s was deleted by %s: %s", instance_id, who, why or "no reason given")
        return bool(gone)

    # -- bulk ----------------------------------------------------------------------------------------------------------

    async def retry_all(self, filter: InstanceFilter, *, who: str, why: str | None = None) -> BulkDone:
        """Retry all instances that match and have failed activities."""
        request, query = OperatorRequest(who, why, filter), _narrowed(replace(filter, has_incidents=True), RETRIED)
        return await self._all(query, lambda instance_id: OperatorRetry(self._runtime.key(instance_id), request))

    async def cancel_all(
        self, filter: InstanceFilter, *, terminate: bool = False, who: str, why: str | None = None
    ) -> BulkDone:
        request, query = OperatorRequest(who, why, filter), _narrowed(filter, CANCELED)
        return await self._all(
            query, lambda instance_id: OperatorCancel(self._runtime.key(instance_id), request, terminate=terminate)
        )

    async def delete_all(self, filter: InstanceFilter, *, who: str, why: str | None = None) -> BulkDone:
        """Delete all instances that match and have ended."""
        changed, unchanged, failed = 0, 0, list[Failure]()
        async for ids in self._pages(_narrowed(filter, DELETED)):
            for instance_id in ids:
                try:
                    gone = await self.delete(instance_id, who=who, why=why)
                except DeletionRefused as error:
                    failed.append(Failure(instance_id=instance_id, message=str(error)))
                    continue
                changed, unchanged = changed + gone, unchanged + (not gone)
        return BulkDone(changed=changed, unchanged=unchanged, failed=tuple(failed))

    # -- dead letters --------------------------------------------------------------------------------------------------

    async def dead_letters(self, *, limit: int = 100, offset: int = 0) -> Sequence[DeadLetterRow]:
        """Work that failed for good, latest first."""
        return await self._runtime.store.list_dead_letters(self._runtime.tenant, limit=limit, offset=offset)

    async def replay(self, ids: Sequence[str], *, who: str, why: str | None = None) -> int:
        """Restore the work rows with zero attempts; returns their number. Letters that were replayed before do not count.

        If this node serves the queue, failed effects have begun again on return: a caller that then waits for the instance
        does not see the old fault.
        """
        letters = await self.letters(ids)
        count = await self._runtime.store.replay_dead_letters(self._runtime.tenant, list(ids))
        if self._runtime.takes_own:
            await asyncio.gather(*(self._replay_effect(letter.work) for letter in letters))
        await self._note(letters, OperatorRequest(who, why), "replay dead letter")
        return count

    async def _replay_effect(self, row: WorkRow) -> None:
        if row.kind != WorkKind.RETRY or row.instance_id is None:
            return
        job = ReplayJob(self._runtime.key(row.instance_id), read_replay(row), consumes_work=row.id)
        try:
            await self._runtime.ask(job)
        except HoldfastError:
            logger.info("the replay of %s is left to the workers", row.id, exc_info=True)

    async def discard(self, ids: Sequence[str], *, who: str, why: str | None = None) -> int:
        """Delete dead letters; returns their number."""
        letters = await self.letters(ids)
        count = await self._runtime.store.delete_dead_letters(self._runtime.tenant, list(ids))
        await self._note(letters, OperatorRequest(who, why), "discard dead letter")
        return count

    async def letters(self, ids: Sequence[str]) -> list[DeadLetterRow]:
        """The dead letters of these ids that exist."""
        wanted, found, offset = set(ids), list[DeadLetterRow](), 0
        while page := await self.dead_letters(limit=PAGE, offset=offset):
            found += [letter for letter in page if letter.work.id in wanted]
            offset += len(page)
            if len(found) == len(wanted):
                break
        return found

    async def _note(self, letters: Sequence[DeadLetterRow], request: OperatorRequest, verb: str) -> None:
        """Journal the action in the instances of the letters, if they exist."""
        for letter in letters:
            if letter.work.instance_id is not None:
                data = {"work": letter.work.id, "kind": letter.work.kind, "reason": letter.reason}
                await self._answered(JournalNote(self._runtime.key(letter.work.instance_id), request, verb, **data))
            logger.info("%s %s by %s: %s", verb, letter.work.id, request.who, request.why or "no reason given")

    # -- helpers -------------------------------------------------------------------------------------------------------

    async def _one(self, job: Job) -> Done:
        changed = await self._answered(job)
        row = await self._runtime.row(job.instance_id)
        return Done(instance_id=row.id, changed=changed, status=row.status, version=row.version)

    async def _answered(self, job: Job) -> bool:
        answer = await self._runtime.ask(job)
        return job.changed and not answer.dropped

    async def _all(self, filter: InstanceFilter | None, make: Callable[[str], Job]) -> BulkDone:
        changed, unchanged, failed = 0, 0, list[Failure]()
        async for ids in self._pages(filter):
            answers = await asyncio.gather(*(self._answered(make(each)) for each in ids), return_exceptions=True)
            for instance_id, answer in zip(ids, answers, strict=True):
                if isinstance(answer, HoldfastError):
                    failed.append(Failure(instance_id=instance_id, message=str(answer)))
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    changed, unchanged = changed + answer, unchanged + (not answer)
        return BulkDone(changed=changed, unchanged=unchanged, failed=tuple(failed))

    async def _pages(self, filter: InstanceFilter | None) -> AsyncIterator[list[str]]:
        """Ids of all instances that match, sorted by id: changes to one page do not move the next ones."""
        cursor: str | None = None
        while filter is not None:
            query = InstanceQuery(
                tenant=self._runtime.tenant,
                filter=filter,
                sort=InstanceSort.ID,
                descending=False,
                limit=PAGE,
                cursor=cursor,
            )
            page = await self._runtime.store.search(query)
            yield [item.id for item in page.items]
            cursor = page.cursor
            if cursor is None:
                return

    async def _check_slot(self, instance_id: str) -> None:
        """A faulted instance has released its slot. Raises `PlaceTaken` if another instance holds the slot now."""
        row = await self._runtime.row(instance_id)
        if row.status != Status.FAULTED:
            return
        plan = await self._runtime.plans.plan(row.content)
        holder = await self._runtime.slot_holder(plan, row.correlation_id)
        if holder is not None and holder != instance_id:
            raise slot_taken(instance_id, holder)


def _narrowed(filter: InstanceFilter, statuses: tuple[str, ...]) -> InstanceFilter | None:
    """The filter limited to those statuses; None if it names only other statuses."""
    wanted = tuple(status for status in filter.statuses or statuses if status in statuses)
    return replace(filter, statuses=wanted) if wanted else None
