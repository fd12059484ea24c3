"""Recent stimuli of this node: which were routed here, and which bookmarks declined them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.matching import Place, place_of

SETTLED_MAX = 10_000
DECLINED_MAX = 10_000

_StimulusKey = tuple[str, str]
"""Tenant and id: an id derived from an idempotency key may occur in several tenants."""


class Settled:
    """Stimuli that were routed on this node, for callers that wait for the routing."""

    def __init__(self) -> None:
        self._done: OrderedDict[_StimulusKey, None] = OrderedDict()
        self._waiting: dict[_StimulusKey, asyncio.Event] = {}

    def add(self, tenant: str, stimulus_id: str) -> None:
        key = tenant, stimulus_id
        self._done[key] = None
        if len(self._done) > SETTLED_MAX:
            self._done.popitem(last=False)
        if (event := self._waiting.pop(key, None)) is not None:
            event.set()

    def has(self, tenant: str, stimulus_id: str) -> bool:
        return (tenant, stimulus_id) in self._done

    async def wait(self, tenant: str, stimulus_id: str) -> None:
        key = tenant, stimulus_id
        if key not in self._done:
            await self._waiting.setdefault(key, asyncio.Event()).wait()


class Declinations:
    """Kept stimuli and the bookmarks that declined them, so that the sweep does not offer them again."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[_StimulusKey, Place], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, found: Stimulus, mark: BookmarkRow) -> Place:
        place = place_of(mark)
        self._add((mark.tenant, found.id), place)
        return place

    def add_place(self, key: InstanceKey, found: Stimulus, number: int) -> None:
        self._add((key.tenant, found.id), (key.id, number))

    def _add(self, key: _StimulusKey, place: Place) -> None:
        self._known[key, place] = None
        if len(self._known) > DECLINED_MAX:
            self._known.popitem(last=False)

    def has(self, found: Stimulus, mark: BookmarkRow) -> bool:
        return ((mark.tenant, found.id), place_of(mark)) in self._known
