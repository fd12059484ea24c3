"""Delivers a stimulus that is not kept to a bookmark, exactly once."""

from __future__ import annotations

from holdfast.errors import InstanceAtRest, InstanceNotFound, PayloadRefused
from holdfast.model.stored import InstanceKey
from holdfast.ports import Store
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.mail import Letter, MailJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.matching import BookmarkMatcher, Place, address_key, place_of

ENDED = (InstanceAtRest, InstanceNotFound)
TRIES_MAX = 3
"""Attempts that found their bookmark gone; then the stimulus is kept, and delivered from the inbox."""


class StimulusDelivery:
    def __init__(
        self,
        store: Store,
        lanes: Lanes,
        cache: InstanceCache,
        matcher: BookmarkMatcher,
        declinations: Declinations,
        counts: StimulusCounts,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._cache = cache
        self._matcher = matcher
        self._declinations = declinations
        self._counts = counts

    async def deliver_at_once(self, tenant: str, found: Stimulus) -> bool:
        """Deliver an addressed stimulus unless older stimuli of its address are kept (rule H16); False if it must be kept.

        Earlier stimuli of the sender were stored before this call, so any check from now on sees them.
        """
        if found.instance_id is not None:
            key = InstanceKey(tenant, found.instance_id)
            return await self._is_next(key, found) and await self._deliver_to(key, found)
        return await self.deliver(tenant, found, in_order=True)

    async def _is_next(self, key: InstanceKey, found: Stimulus) -> bool:
        """Whether the instance lives and no older stimulus is kept for it. One query: it also reads an instance that is not
        cached, so that the job need not load it."""
        if self._cache.get(key) is not None:
            (is_behind,) = await self._store.has_mail([(key.tenant, address_key(found))])
            return not is_behind
        loaded = await self._store.load([key], [address_key(found)])
        row = loaded.instances.get(key)
        if row is None or row.finished is not None:
            return False
        self._cache.keep_read(key, row)
        return not loaded.mail[0]

    async def _deliver_to(self, key: InstanceKey, found: Stimulus) -> bool:
        """Deliver to the oldest bookmark of the instance that takes it; the job matches it with the bookmarks."""
        for _ in range(TRIES_MAX):
            letter = Letter(found)
            job = MailJob(key, [letter])
            if await self._handed_over(job, found):
                return True
            for number in letter.declined:
                self._declinations.add_place(key, found, number)
            if letter.refused is not None:
                raise letter.refused
            if not job.lost:
                return False
        return False

    async def deliver(
        self,
        tenant: str,
        found: Stimulus,
        passed: frozenset[str] = frozenset(),
        *,
        consumes_work: str | None = None,
        in_order: bool = False,
    ) -> bool:
        """Deliver to the oldest bookmark of any instance that fits; False if there is none.

        Raises `PayloadRefused` if the payload does not have the shape that a bookmark expects and no other bookmark accepts it.
        """
        declined: set[Place] = set()
        refused: PayloadRefused | None = None
        tries = 0
        while tries < TRIES_MAX:
            match = await self._matcher.oldest(tenant, found, passed, declined, in_order=in_order and not declined)
            if match is None and refused is not None:
                raise refused
            if match is None:
                return False
            mark, is_only = match
            letter = Letter(found, only=None if is_only else f"b{mark.seq}")
            job = MailJob(InstanceKey(tenant, mark.instance_id), [letter], consumes_work=consumes_work)
            if await self._handed_over(job, found):
                return True
            if letter.declined:
                declined.update((mark.instance_id, seq) for seq in letter.declined)
                self._declinations.add(found, mark)
            elif letter.refused is not None:
                declined.add(place_of(mark))
                refused = refused or letter.refused
            else:
                tries += 1
        return False

    async def _handed_over(self, job: MailJob, found: Stimulus) -> bool:
        """Whether the stimulus is delivered, by this or by another commit."""
        assert job.answer is not None
        self._lanes.submit(job)
        try:
            await job.answer
        except ENDED:
            self._cache.forget(job.key)
            return False  # It is matched again, which raises the error if the stimulus is for this instance.
        (letter,) = job.letters
        if letter.delivered is not None:
            self._counts.add(job.key.tenant, "delivered", found)
            return True
        if job.lost or not (letter.declined or letter.refused):
            self._cache.forget(job.key)
        return letter.spent or job.done_elsewhere
