"""Watch over instances: one query serves all watchers, whenever something was committed on any node.

Rule M9: a change notification is a hint and the query is the truth. A server reads only the versions of instances that are
watched here. There is one query per turn and at most one turn per `MIN_INTERVAL`, for any number of watchers.

Rule M8: the order of an instance is its version. A watcher knows the version that it has seen and waits for a later one, so
no change is missed between two queries; intermediate versions fold into one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from holdfast.errors import HoldfastError
from holdfast.model.stored import InstanceKey
from holdfast.runtime.facade import Runtime

MIN_INTERVAL = timedelta(milliseconds=20)
POLL_INTERVAL = timedelta(seconds=1)
PAGE = 1_000
GONE = -1
"""The version of an instance that does not exist."""


class Watcher:
    """One subscriber of one instance."""

    __slots__ = ("_event", "instance_id", "version")

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        self.version: int | None = None
        """The latest version seen here; None before the first query."""
        self._event = asyncio.Event()

    def notify(self, version: int) -> None:
        self.version = version
        self._event.set()

    async def changed(self, seen: int) -> int:
        """The version, as soon as it is above `seen`; GONE if the instance does not exist."""
        while self.version is None or (self.version <= seen and self.version != GONE):
            self._event.clear()
            await self._event.wait()
        return self.version


class Watch:
    """All watchers of one server process."""

    def __init__(self, runtime: Runtime) -> None:
        self._store = runtime.store
        self._tenant = runtime.tenant
        self._log = runtime.log
        self._watchers: dict[str, set[Watcher]] = {}
        self._listeners: set[asyncio.Event] = set()
        self.turn = 0
        """Grows with every observed commit: a query made in this turn includes it."""
        self._task: asyncio.Task[None] | None = None
        self._new_watcher = asyncio.Event()

    @contextmanager
    def instance(self, instance_id: str) -> Iterator[Watcher]:
        watcher = Watcher(instance_id)
        self._watchers.setdefault(instance_id, set()).add(watcher)
        self._start()
        try:
            yield watcher
        finally:
            remaining = self._watchers[instance_id]
            remaining.discard(watcher)
            if not remaining:
                del self._watchers[instance_id]

    @contextmanager
    def anything(self) -> Iterator[asyncio.Event]:
        """An event that is set after every commit, for subscribers of a list. Clear it first, then query."""
        event = asyncio.Event()
        self._listeners.add(event)
        self._start()
        try:
            yield event
        finally:
            self._listeners.discard(event)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    # -- queries -------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._new_watcher.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-watch")

    async def _run(self) -> None:
        """Runs while there are watchers."""
        seen = -1
        while self._watchers or self._listeners:
            self._new_watcher.clear()
            try:
                number = await self._store.wait_for_change(seen, timedelta(0)) if seen < 0 else seen
                await self._poll()
                seen = await self._wait(number)
                if seen != number:
                    self._notify_listeners()
            except HoldfastError:
                self._log.warning("cannot read the versions of watched instances; retrying")
                await asyncio.sleep(POLL_INTERVAL.total_seconds())
            for event in tuple(self._listeners):
                event.set()
            await asyncio.sleep(MIN_INTERVAL.total_seconds())

    def _notify_listeners(self) -> None:
        self.turn += 1
        for event in self._listeners:
            event.set()

    async def _wait(self, number: int) -> int:
        """Waits for a change or a new watcher."""
        change = asyncio.ensure_future(self._store.wait_for_change(number, POLL_INTERVAL))
        new_watcher = asyncio.ensure_future(self._new_watcher.wait())
        try:
            await asyncio.wait([change, new_watcher], return_when=asyncio.FIRST_COMPLETED)
            return change.result() if change.done() else number
        finally:
            for task in (change, new_watcher):
                task.cancel()
            await asyncio.gather(change, new_watcher, return_exceptions=True)

    async def _poll(self) -> None:
        names = list(self._watchers)
        for start in range(0, len(names), PAGE):
            page = names[start : start + PAGE]
            versions = await self._store.versions_of([InstanceKey(self._tenant, name) for name in page])
            for name in page:
                version = versions.get(InstanceKey(self._tenant, name), GONE)
                for watcher in tuple(self._watchers.get(name, ())):
                    if watcher.version != version:
                        watcher.notify(version)
