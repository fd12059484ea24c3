"""Waits for instances, by key: a commit wakes only the callers that wait for its own instance.

Commits of this process wake a caller without a query. Changes of other processes are looked up for all awaited instances with one
statement (ids and versions), and only instances whose version moved are read. A change may be reported late or not at all, so the
versions are also read from time to time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from holdfast.errors import HoldfastError
from holdfast.model.changes import Change
from holdfast.model.commit import Commit
from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.result import RunResult
from holdfast.runtime.stimuli.dedupe import Settled

LOOK_SECONDS_MIN = 0.02
"""Shortest pause between two statements for changes of other processes."""
LOOK_SECONDS_FIRST, LOOK_SECONDS_MAX = 0.1, 5.0
"""Pauses between two statements without a reported change: they double. The first ones are short, since other nodes need a moment
to learn that this node waits."""
PAGE = 1_000

_BUSY = frozenset({Status.PENDING.value, Status.RUNNING.value, Status.CANCELING.value})
_AT_REST = frozenset(status.value for status in Status if status.at_rest)

Wanted = Callable[[InstanceRow], bool]
"""Whether a row that this process commits is worth a look."""


class Waiter:
    """One caller that waits for one instance."""

    __slots__ = ("_event", "_wanted", "version")

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._event = asyncio.Event()
        self.version = -1
        """The version that the caller has seen; -1 before its first read."""

    async def changed(self, version: int) -> None:
        """Wait for a change after this version. Changes since the caller began to wait count."""
        self.version = version
        await self._event.wait()
        self._event.clear()

    def committed(self, row: InstanceRow) -> None:
        if row.version > self.version and self._wanted(row):
            self._event.set()

    def stored(self, version: int) -> None:
        if version != self.version:
            self._event.set()


class InstanceWaits:
    """All callers of this node that wait for instances."""

    def __init__(self, store: Store, reader: InstanceReader, log: OutageLog) -> None:
        self._store = store
        self._reader = reader
        self._log = log
        self._waiters: dict[InstanceKey, list[Waiter]] = {}
        self._unsubscribe: Callable[[], None] | None = None
        self._looks: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    # -- waits ---------------------------------------------------------------------------------------------------------

    async def at_rest(self, key: InstanceKey, read: Callable[[], Awaitable[RunResult]]) -> RunResult:
        """Wait until the instance has ended."""
        with self.of(key, lambda row: row.status in _AT_REST) as waiter:
            while True:
                row = await self._reader.row(key)
                if row.status in _AT_REST and (result := await read()).status.at_rest:
                    return result
                await waiter.changed(row.version)

    async def burst(self, key: InstanceKey, limit: timedelta, above: int) -> str:
        """Wait until the instance has ended or is suspended, at a version above `above`; returns its status, also at the
        limit."""
        status = str(Status.PENDING)
        with suppress(TimeoutError), self.of(key, lambda row: row.status not in _BUSY) as waiter:
            async with asyncio.timeout(limit.total_seconds()):
                while True:
                    row = await self._reader.row(key)
                    status = row.status
                    if row.version > above and status not in _BUSY:
                        break
                    await waiter.changed(row.version)
        return status

    @contextmanager
    def of(self, key: InstanceKey, wanted: Wanted = lambda row: True) -> Iterator[Waiter]:
        """Begin to wait, then read, then wait for a change of the version that was read."""
        waiter = Waiter(wanted)
        self._waiters.setdefault(key, []).append(waiter)
        if self._unsubscribe is None:
            self._unsubscribe = self._store.subscribe(self._on_change, anything=True)
            self._looks = asyncio.get_running_loop().create_task(self._look(), name="holdfast-waits")
        try:
            yield waiter
        finally:
            waiters = self._waiters[key]
            waiters.remove(waiter)
            if not waiters:
                del self._waiters[key]
            if not self._waiters:
                self._stop()

    def _stop(self) -> None:
        unsubscribe, self._unsubscribe = self._unsubscribe, None
        looks, self._looks = self._looks, None
        if unsubscribe is not None:
            unsubscribe()
        if looks is not None:
            looks.cancel()

    # -- changes -------------------------------------------------------------------------------------------------------

    def _on_change(self, change: Change) -> None:
        if change.commits:
            self._on_commits(change.commits)
        if change.elsewhere:
            self._changed.set()

    def _on_commits(self, batch: Sequence[Commit]) -> None:
        waiters = self._waiters
        for commit in batch:
            row = commit.instance
            if row is not None and (found := waiters.get(InstanceKey(commit.tenant, row.id))) is not None:
                for waiter in found:
                    waiter.committed(row)

    async def _look(self) -> None:
        """One statement for all awaited instances, after changes of other processes."""
        pause = LOOK_SECONDS_FIRST
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._changed.wait()
                pause = LOOK_SECONDS_FIRST
            except TimeoutError:
                pause = min(2 * pause, LOOK_SECONDS_MAX)
            self._changed.clear()
            try:
                await self._compare()
            except HoldfastError:
                self._log.warning("the versions of awaited instances could not be read")
            await asyncio.sleep(LOOK_SECONDS_MIN)

    async def _compare(self) -> None:
        keys = list(self._waiters)
        for start in range(0, len(keys), PAGE):
            page = keys[start : start + PAGE]
            versions = await self._store.versions_of(page)
            for key in page:
                for waiter in self._waiters.get(key, ()):
                    waiter.stored(versions.get(key, 0))


async def routed(settled: Settled, tenant: str, stimulus_id: str, limit: timedelta) -> bool:
    """Wait until this node has routed the stimulus; False at the limit."""
    if settled.has(tenant, stimulus_id):
        return True
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await settled.wait(tenant, stimulus_id)
    except TimeoutError:
        return False
    return True
