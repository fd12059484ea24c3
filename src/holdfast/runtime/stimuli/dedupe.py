"""Recent stimuli of this node: which were routed here, and which bookmarks declined them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from holdfast.model.stored import BookmarkRow
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.matching import Place, place_of

SETTLED_MAX = 10_000
DECLINED_MAX = 10_000


class Settled:
    """Stimuli that were routed on this node, for callers that wait for the routing."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, None] = OrderedDict()
        self._waiting: dict[str, asyncio.Event] = {}

    def add(self, stimulus_id: str) -> None:
        self._done[stimulus_id] = None
        if len(self._done) > SETTLED_MAX:
            self._done.popitem(last=False)
        if (event := self._waiting.pop(stimulus_id, None)) is not None:
            event.set()

    def __contains__(self, stimulus_id: str) -> bool:
        return stimulus_id in self._done

    async def wait(self, stimulus_id: str) -> None:
        if stimulus_id not in self._done:
            await self._waiting.setdefault(stimulus_id, asyncio.Event()).wait()


class Declinations:
    """Kept stimuli and the bookmarks that declined them, so that the sweep does not offer them again."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Place], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, found: Stimulus, mark: BookmarkRow) -> Place:
        place = place_of(mark)
        self._known[found.id, place] = None
        if len(self._known) > DECLINED_MAX:
            self._known.popitem(last=False)
        return place

    def has(self, found: Stimulus, mark: BookmarkRow) -> bool:
        return (found.id, place_of(mark)) in self._known
