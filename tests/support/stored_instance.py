"""An instance that is encoded and decoded around each burst, as a node does it, beside a twin that never leaves memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from holdfast import Holdfast
from holdfast.execution import delivery
from holdfast.execution.branches import branch_writer
from holdfast.execution.heap import HeapBook
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Ended, Limits, run_segment
from holdfast.execution.settle import settle
from holdfast.execution.snapshot import dump
from holdfast.runtime.commits.large_values import refers_to
from holdfast.runtime.commits.state_codec import decode_state, encode_state

Act = Callable[[LiveInstance], object]


@contextmanager
def all_branches_sleep() -> Iterator[None]:
    with mock.patch.object(branch_writer, "WIDE_MIN", 2):
        yield


class StoredInstance:
    def __init__(self, engine: Holdfast, plan: Plan, inputs: dict[str, Any]) -> None:
        self._engine = engine
        self._plan = plan
        self._book: HeapBook | None = None
        self.values: dict[str, bytes] = {}
        self.woken = 0
        """Branches that the last burst used."""
        self.twin = self._new(inputs)
        self._store(self._new(inputs), frozenset())

    def _new(self, inputs: dict[str, Any]) -> LiveInstance:
        engine = self._engine
        live = delivery.start(self._plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs=inputs)
        _run(live)
        return live

    def burst(self, act: Act, *, cold: bool = False) -> LiveInstance:
        """Do the same with both. Returns the instance that was read from the store."""
        act(self.twin)
        _run(self.twin)
        heap, self._book = self._book, None
        live = self._read(None if cold else heap)
        act(live)
        _run(live)
        self.woken = 0 if live.asleep is None else len(live.asleep.woken)
        self._store(live, frozenset(refers_to(self.state)))
        return live

    def read(self) -> LiveInstance:
        """The stored instance, as the next burst reads it."""
        return self._read(None)

    def _read(self, heap: HeapBook | None, *, whole: bool = False) -> LiveInstance:
        live = decode_state(
            self.state, self._plan, self._engine.clock.now_ns, self._engine.services, self.values, heap, whole=whole
        )
        live.new_effects = []
        return live

    def _store(self, live: LiveInstance, before: frozenset[str]) -> None:
        live.journal, live.journal_base = [], 0
        packed = encode_state(live)
        self.state = packed.state
        for ref in before - packed.values.keys():
            del self.values[ref]
        self.values.update(packed.values)
        if packed.pages is not None:
            for ref in packed.pages.dropped:
                del self.values[ref]
            self.values.update(packed.pages.added)
            self._book = packed.pages.after
            if self._book is not None and self._book.tracks:
                self._book.replace_touched()
            else:
                self._book = None

    def check(self) -> None:
        """Any node reads what the twin is, and the store has no value that nothing refers to."""
        live = self._read(None, whole=True)
        assert document(live) == document(self.twin)
        pages = set() if live.heap is None else set(live.heap.refs)
        assert self.values.keys() == {*refers_to(self.state), *pages}


def _run(live: LiveInstance) -> None:
    while run_segment(live, Limits(activities=64)) is not Ended.IDLE:
        pass
    if live.child_starts:  # they leave with the commit
        live.child_starts = ()
        settle(live)
    live.new_effects, live.canceled_effects = [], {}


def document(live: LiveInstance) -> dict[str, Any]:
    live.journal_base = 0
    found = dump(live, journal=False)
    for part in ("bookmarks", "effects"):
        if part in found:
            found[part] = sorted(found[part], key=repr)
    return found
