"""Matching: the bookmarks and triggers that a stimulus fits (rule H12). Wake keys are explained in `model/wake_keys.py`.

A stimulus that is not an event matches bookmarks of its type and payload, limited to an instance or correlation id if it
names one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from holdfast.errors import InstanceAtRest
from holdfast.execution.branches.branch_reader import stored_bookmarks
from holdfast.execution.state import State
from holdfast.model.hashing import stimulus_hash, text_hash
from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceKey, InstanceRow, correlation_key, wake_key
from holdfast.model.values import TypeRegistry, decode
from holdfast.model.wake_keys import STORED_KINDS, everyone_key, key_of, stored_key
from holdfast.ports import Store
from holdfast.runtime.commits.fitting_bookmarks import wake_keys
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.large_values import is_split, unpack_state
from holdfast.runtime.commits.work_rows import Stimulus

_PLAIN = TypeRegistry()

Place = tuple[str, int]
"""A bookmark: instance id and number."""


def trigger_key(found: Stimulus) -> int:
    """The key of triggers that the stimulus fits. Triggers have no addresses."""
    if found.event_name is not None:
        return everyone_key(found.event_name)
    return key_of(found.type, decode(found.payload, _PLAIN))


def address_key(found: Stimulus) -> int:
    """The hash of the address of a stimulus: instance, correlation id and key. Stimuli of one address keep their order."""
    if found.key is None:
        text = text_hash("address", [found.instance_id, found.correlation_id, None])
    else:
        parts = [found.instance_id, found.correlation_id, decode(found.key, _PLAIN)]
        text = stimulus_hash("address", parts)
    return wake_key("address", text.encode())


def place_of(mark: BookmarkRow) -> Place:
    return mark.instance_id, mark.seq


class Match(NamedTuple):
    bookmark: BookmarkRow
    is_only: bool
    """No other instance waits for the stimulus: its next bookmark may take it if this one is gone."""


def _age(mark: BookmarkRow) -> tuple[Any, str, int]:
    return mark.created, mark.instance_id, mark.seq


class BookmarkMatcher:
    def __init__(self, store: Store, cache: InstanceCache) -> None:
        self._store = store
        self._cache = cache

    async def oldest(
        self,
        tenant: str,
        found: Stimulus,
        passed: frozenset[str] = frozenset(),
        declined: Collection[Place] = (),
        *,
        in_order: bool = False,
    ) -> Match | None:
        """The bookmark for an addressed stimulus: the oldest that fits.

        `passed` are instances that do not receive it, `declined` are bookmarks that declined it. With `in_order`, there is none
        while older stimuli of its address are kept (rule H16): the same query asks for them. Raises `InstanceAtRest` or
        `InstanceNotFound` if the stimulus is for an instance that receives nothing any more.
        """
        if found.instance_id is not None:
            key = InstanceKey(tenant, found.instance_id)
            mark = self._cached(key, found, declined) or await self._in_instance(key, found, declined)
            return None if mark is None else Match(mark, True)
        address = address_key(found) if in_order else None
        queries = [
            BookmarkQuery(
                tenant=tenant,
                key=key,
                correlation=correlation_key(found.correlation_id),
                limit=2 + len(passed) + len(declined),
                address=address,
            )
            for key in wake_keys(found)
        ]
        matches = await self._store.find_bookmarks(queries)
        if any(matches.mail):
            return None
        fitting = [
            mark
            for marks in matches.bookmarks
            for mark in marks
            if mark.type == found.type and mark.instance_id not in passed and place_of(mark) not in declined
        ]
        if not fitting:
            return None
        mark = fitting[0] if len(fitting) == 1 else min(fitting, key=_age)
        self.forget_older(mark)
        return Match(mark, not passed and all(other.instance_id == mark.instance_id for other in fitting))

    def forget_older(self, mark: BookmarkRow) -> None:
        """Drop a cached row that is older than the bookmark. Clocks of nodes differ, so this only saves a failed attempt; the
        version check decides."""
        key = InstanceKey(mark.tenant, mark.instance_id)
        row = self._cache.get(key)
        if row is not None and row.updated < mark.created:
            self._cache.forget(key)

    async def page(self, tenant: str, found: Stimulus, limit: int) -> list[BookmarkRow]:
        """Bookmarks that a broadcast reaches now, from its cursor on, in order of instance and number."""
        (key,) = wake_keys(found)
        query = BookmarkQuery(
            tenant=tenant,
            key=key,
            correlation=correlation_key(found.correlation_id),
            limit=limit,
            oldest=False,
            after=found.after,
        )
        return list((await self._store.find_bookmarks([query])).bookmarks[0])

    def cached(self, tenant: str, found: Stimulus) -> BookmarkRow | None:
        """The bookmark of the addressed instance by its cached row, without a query."""
        return None if found.instance_id is None else self._cached(InstanceKey(tenant, found.instance_id), found, ())

    # -- a stimulus for one instance reads the instance (rule M5) ------------------------------------------------------

    def _cached(self, key: InstanceKey, found: Stimulus, declined: Collection[Place]) -> BookmarkRow | None:
        """The bookmark by the cached row. It may be gone, which the commit detects; its absence proves nothing."""
        row = self._cache.get(key)
        return (
            None if row is None or is_split(row.state) else _fitting(found, row, unpack_state(row.state, {}), declined)
        )

    async def _in_instance(self, key: InstanceKey, found: Stimulus, declined: Collection[Place]) -> BookmarkRow | None:
        row, large = await self._cache.state(key, pages=False)
        state = unpack_state(row.state, large)
        if state.branches:  # Only bookmarks of sleeping branches are in pages.
            row, large = await self._cache.state(key)
            state = unpack_state(row.state, large)
        if row.finished is not None:
            raise InstanceAtRest(key.id, row.status, remedy="It does not read events any more.")
        self._cache.keep_read(key, row)
        return _fitting(found, row, state, declined)


def _fitting(found: Stimulus, row: InstanceRow, state: State, declined: Collection[Place]) -> BookmarkRow | None:
    """The oldest bookmark of an instance that fits."""
    mine = correlation_key(row.correlation_id)
    if correlation_key(found.correlation_id) not in (0, mine):
        return None
    keys = wake_keys(found)
    for mark in stored_bookmarks(state):
        seq = int(mark.id[1:])
        if mark.name != found.type or mark.kind not in STORED_KINDS or (row.id, seq) in declined:
            continue
        key = stored_key(mark.name, mark.payload, mark.hash.hex())
        if key in keys:
            return BookmarkRow(
                tenant=row.tenant,
                instance_id=row.id,
                seq=seq,
                key=key,
                correlation=mine,
                type=mark.name,
                activity_id=mark.activity_id,
                created=row.updated,
            )
    return None
