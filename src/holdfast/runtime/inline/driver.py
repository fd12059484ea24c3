"""The driver of one instance: it repeats segment, commit, effects and results until the instance ends or waits.

`drive` is the main loop. The commit of the runner stores nothing: it publishes the lines, effects and children of a segment in
the same order as a commit to a store.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from holdfast import telemetry
from holdfast.errors import WorkflowUnknown
from holdfast.execution import delivery
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.segment import Ended, run_segment
from holdfast.execution.suspension import Suspended, begin
from holdfast.model.instance import Bookmark, BookmarkKind, Status
from holdfast.runtime.effects.executor import Finished, InstanceEffects, canceled_failure
from holdfast.runtime.observability.status_events import emit_status, names_of
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.runtime.inline.runner import Runner

logger = logging.getLogger("holdfast")

P = ParamSpec("P")
T = TypeVar("T")


class Driver:
    def __init__(
        self,
        runner: Runner,
        live: LiveInstance,
        *,
        wait: bool,
        on_line: Callable[[str], None] | None,
        children: dict[str, RunResult] | None = None,
        lines: list[str] | None = None,
    ) -> None:
        self.runner = runner
        self.live = live
        self.wait = wait
        self.on_line = on_line
        self.lines = list(lines or ())
        self.children = dict(children or {})
        self.effects = InstanceEffects(runner.tenant, live, runner.pools, runner.around_effects, runner.cancel_grace)
        self._canceled = asyncio.Event()
        self._finalize = True
        self._child: Driver | None = None
        """The child that runs now: it is canceled with this instance."""
        # One context for all pure code of this burst: context variables do not leak into the next burst (rule H13).
        self._context = contextvars.Context()
        self._suspended = False
        """Pure code waits for the answer of another process."""
        self._canceled_meanwhile: tuple[str, bool] | None = None
        """The cancel that arrived while pure code was suspended: cause, finalize."""
        self._ahead: Ended | None = None
        """How the segment ended that ran in the task of an effect; it is not committed yet."""

    async def drive(self) -> RunResult:
        """Run until the instance ends, or waits for something outside of this process."""
        for request in list(self.live.ending.values()):  # Of an exported instance: no process runs them.
            lost = canceled_failure("lost")
            await self.deliver(delivery.finish_effect, self.live, request.execution_id, request.attempt, lost)
        try:
            while True:
                ended, self._ahead = self._ahead or await self.deliver(run_segment, self.live, self.runner.limits), None
                resumed = await self._commit()
                if ended is not Ended.IDLE:
                    await asyncio.sleep(0)
                elif resumed or self._has_work() or self._take_cancel() or await self._deliver_own_events():
                    continue
                elif self.live.effects or self.live.ending:
                    await self._take_results()
                elif not await self._wait_for_due():
                    await self.effects.cancel_all("drained")
                    await self._drop_children()
                    if not self._take_cancel():
                        break
        except BaseException:
            await self.effects.cancel_all("canceled")
            raise
        if telemetry.listeners:
            emit_status(self.live, names_of(self.runner.tenant, self.live))
        return RunResult(self.live, self.lines, self.children)

    def cancel(self, cause: str, *, finalize: bool = True) -> None:
        """Cancel the instance while it runs. Called on the event loop, so always between two segments; a segment that is
        suspended ends first."""
        if self._suspended:
            self._canceled_meanwhile = (cause, finalize)
            return
        if self.live.status.at_rest and self.live.status is not Status.FAULTED:
            return
        self._finalize = finalize
        self._context.run(delivery.cancel, self.live, cause, finalize=finalize)
        self._canceled.set()
        self.effects.wake()
        if self._child is not None:
            self._child.cancel(cause, finalize=finalize)

    async def deliver(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run pure code of the instance in its context. Expressions of the code may suspend it."""
        if not self.live.plan.waits:
            return self._context.run(work, *args, **kwargs)
        found = begin(partial(self._context.run, work, *args, **kwargs))
        if not isinstance(found, Suspended):
            value: T = found
            return value
        self._suspended = True
        try:
            value = await found.finish()
        finally:
            self._suspended = False
        if self._canceled_meanwhile is not None:
            (cause, finalize), self._canceled_meanwhile = self._canceled_meanwhile, None
            self.cancel(cause, finalize=finalize)
        return value

    def _has_work(self) -> bool:
        """A faulted instance may keep its queue for a retry, if middleware failed before it ran."""
        return bool(self.live.queue) and not self.live.fault_pending

    def _take_cancel(self) -> bool:
        """Whether the instance was canceled while this loop waited: then it has to run again."""
        if not self._canceled.is_set():
            return False
        self._canceled.clear()
        return True

    def _run_segment(self) -> Ended:
        return self._context.run(run_segment, self.live, self.runner.limits)

    def _run_next(self, finished: Finished) -> bool:
        """Run the next segment in the task of the effect that ended, which saves a turn of the event loop. Everything but one
        effect after another is left to `drive`."""
        if self._is_awaited(finished):
            self._context.run(delivery.finish_effect, self.live, *finished)
        ended, live = self._run_segment(), self.live
        if (
            ended is not Ended.IDLE or len(live.effects) != 1 or live.bookmarks or live.canceled_effects or live.ending
            or live.child_starts or live.published or live.queue or self._canceled.is_set()
        ):  # fmt: skip
            self._ahead = ended
            return False
        self._publish()
        self._start_effects()
        return True

    # -- after a segment -----------------------------------------------------------------------------------------------

    async def _commit(self) -> bool:
        """Publish the results of the segment. True if a child has resumed the instance."""
        live = self.live
        self._publish()
        if live.canceled_effects:
            gone, live.canceled_effects = live.canceled_effects, {}
            await self.effects.cancel(list(gone), live.stopping or "lost race")
        self._start_effects()
        return await self._start_children() if live.child_starts else False

    def _publish(self) -> None:
        live = self.live
        live.commits += 1
        live.committed_entries = len(live.journal)
        live.transient = None
        if telemetry.listeners:
            telemetry.emit(
                "segment.committed",
                **names_of(self.runner.tenant, live),
                activities=live.sequence,
            )
        if live.lines:
            self._write_lines()

    def _start_effects(self) -> None:
        starting, self.live.new_effects = self.live.new_effects, []
        for request in starting:
            self.effects.start(request)

    def _write_lines(self) -> None:
        lines, self.live.lines = self.live.lines, []
        self.lines.extend(lines)
        if self.on_line is not None:
            for line in lines:
                self.on_line(line)

    async def _take_results(self) -> None:
        """Wait until an effect has ended or a bookmark is due, and deliver it."""
        first, timer = self._first_due(), None
        if first is not None and first.due is not None:
            timer = asyncio.ensure_future(self.runner.clock.wait_until(first.due))
            timer.add_done_callback(lambda _: self.effects.wake())
        try:
            alone = first is None and not self.live.plan.waits
            for finished in await self.effects.next(self._run_next if alone else None):
                if self._is_awaited(finished):
                    await self.deliver(delivery.finish_effect, self.live, *finished)
        finally:
            due = timer is not None and timer.done() and not timer.cancelled()
            if timer is not None:
                timer.cancel()
        if due and first is not None and first.id in self.live.bookmarks:
            await self.deliver(delivery.resume, self.live, first.id)

    def _is_awaited(self, finished: Finished) -> bool:
        return finished[0] in self.live.effects or finished[0] in self.live.ending

    def _first_due(self) -> Bookmark | None:
        """The bookmark that is due first. Timeouts count without `wait` too; the timeout of an effect is kept by its task."""
        live = self.live
        due = [
            item
            for item in live.bookmarks.values()
            if item.due is not None
            and (self.wait or item.kind is BookmarkKind.TIMEOUT)
            and not (item.kind is BookmarkKind.TIMEOUT and item.execution_id in live.effects)
        ]
        return min(due, key=_due_order) if due else None

    async def _wait_for_due(self) -> bool:
        """With `wait`: sleep until the next bookmark is due, and resume it. False if there is nothing to wait for."""
        first = self._first_due() if self.wait and not self.live.status.at_rest else None
        if first is None or first.due is None:
            return False
        if await self._sleep(first.due):
            await self.deliver(delivery.resume, self.live, first.id)
        return True

    async def _sleep(self, due: datetime) -> bool:
        """Sleep; False if the instance was canceled meanwhile."""
        waits = [asyncio.ensure_future(self.runner.clock.wait_until(due)), asyncio.ensure_future(self._canceled.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for item in waits:
                item.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return not self._take_cancel()

    async def _deliver_own_events(self) -> bool:
        return bool(self.live.published) and await self.deliver(delivery.deliver_local_events, self.live)

    # -- children ------------------------------------------------------------------------------------------------------

    async def _start_children(self) -> bool:
        starts, self.live.child_starts = self.live.child_starts, ()
        for start in starts:
            bookmark = self._child_bookmark(start)
            if bookmark is not None or start.detached:
                await self._run_child(start, bookmark)
        return bool(starts)

    async def _run_child(self, start: ChildStart, bookmark: Bookmark | None) -> None:
        """Run the child at once in this process, as an instance of its own: the runner has no store."""
        try:
            child = self.runner.child(start, self.live, on_line=self._child_line, wait=self.wait)
        except Exception as error:
            if bookmark is None:
                logger.warning("instance %s could not be started", start.instance_id, exc_info=error)
                return
            refusal: dict[str, Any] = {"refused": str(error), "instance_id": start.instance_id}
            if isinstance(error, WorkflowUnknown):
                refusal["unknown"] = True
            await self.deliver(delivery.resume, self.live, bookmark.id, refusal)
            return
        self._child = child
        try:
            result = await child.drive()
        finally:
            self._child = None
        if bookmark is None or bookmark.id not in self.live.bookmarks:
            return
        if result.status.at_rest or not start.wait:
            await self.deliver(delivery.resume, self.live, bookmark.id, child_payload(result))
        else:
            self.children[_child_key(bookmark, start.instance_id)] = result

    def _child_line(self, line: str) -> None:
        self.lines.append(line)
        if self.on_line is not None:
            self.on_line(line)

    def _child_bookmark(self, start: ChildStart) -> Bookmark | None:
        marks = self.live.bookmarks.values()
        return next(
            (item for item in marks if item.kind is BookmarkKind.CHILD and item.execution_id == start.execution_id),
            None,
        )

    async def child_ended(self, key: str, result: RunResult) -> None:
        """A child that this instance waits for has ended, or waits at another bookmark."""
        if result.status.at_rest:
            self.children.pop(key, None)
            await self.deliver(delivery.resume, self.live, _mark_of(key), child_payload(result))
        else:
            self.children[key] = result

    async def _drop_children(self) -> None:
        """Cancel children that this instance does not wait for any more."""
        for key, child in list(self.children.items()):
            if _mark_of(key) in self.live.bookmarks:
                continue
            del self.children[key]
            if not child.status.at_rest:
                ended = await self.runner.cancel(child, terminate=not self._finalize)
                for line in ended.lines[len(child.lines) :]:
                    self._child_line(line)


def child_payload(result: RunResult) -> dict[str, Any]:
    return {"instance_id": result.instance_id, "status": result.status.value, "outputs": result.outputs}


def _child_key(bookmark: Bookmark, child_id: str) -> str:
    """The key of a child: the bookmark that waits; with the id of the child if the bookmark waits for many children."""
    return bookmark.id if "child" in bookmark.payload else f"{bookmark.id}~{child_id}"


def _mark_of(key: str) -> str:
    return key.partition("~")[0]


def _due_order(bookmark: Bookmark) -> tuple[Any, str]:
    return bookmark.due, bookmark.id
