"""Delivers a stimulus to a bookmark, exactly once."""

from __future__ import annotations

from typing import Any

from holdfast.errors import BookmarkNotFound, InstanceAtRest, InstanceNotFound, PayloadRefused
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.dispatch import Declined, DeliverJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.matching import BookmarkMatcher, Place, place_of

ENDED = (InstanceAtRest, InstanceNotFound)
GONE = (BookmarkNotFound, *ENDED)


class StimulusDelivery:
    def __init__(
        self,
        lanes: Lanes,
        cache: InstanceCache,
        matcher: BookmarkMatcher,
        declinations: Declinations,
        counts: StimulusCounts,
    ) -> None:
        self._lanes = lanes
        self._cache = cache
        self._matcher = matcher
        self._declinations = declinations
        self._counts = counts

    async def deliver(self, tenant: str, found: Stimulus, passed: frozenset[str], **consumes: Any) -> bool:
        """Deliver to the oldest bookmark that fits; False if there is none.

        Raises `PayloadRefused` if the payload does not have the shape that a bookmark expects and no other bookmark accepts it.
        """
        declined: set[Place] = set()
        refused: PayloadRefused | None = None
        payload = work_rows.encoded_input(found)
        while True:
            mark = await self._matcher.oldest(tenant, found, passed, declined)
            if mark is None and refused is not None:
                raise refused
            if mark is None:
                return False
            try:
                taken = await self.hand_over(mark, found, payload, **consumes)
            except GONE:
                self._cache.forget(InstanceKey(tenant, mark.instance_id))
                continue  # Another stimulus consumed the bookmark: match again.
            except Declined:
                declined.add(self._declinations.add(found, mark))
                continue
            except PayloadRefused as error:
                declined.add(place_of(mark))
                refused = refused or error
                continue
            if taken:
                self._counts.add("delivered", found)
            return True

    async def hand_over(self, mark: BookmarkRow, found: Stimulus, payload: bytes, **consumes: Any) -> bool:
        """Deliver to one bookmark; False if another commit delivered the stimulus first."""
        key = InstanceKey(mark.tenant, mark.instance_id)
        job = DeliverJob(key, f"b{mark.seq}", payload, guards=_guards(found), **consumes)
        assert job.answer is not None
        self._lanes.submit(job)
        return (await job.answer).result is not None


def _guards(found: Stimulus) -> tuple[Guard, ...]:
    """An addressed stimulus with an idempotency key is delivered once, independent of its row."""
    return (idempotency_key(operation="stimulus", target=found.type, key=found.id),) if found.guarded else ()
