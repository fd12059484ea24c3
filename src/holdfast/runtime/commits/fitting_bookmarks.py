"""Which bookmarks a stimulus fits (rule H12): its wake keys, compared with the bookmarks of a live instance."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.values import TypeRegistry, decode
from holdfast.model.wake_keys import STORED_KINDS, addressed_key, bookmark_key, everyone_key, key_of, keyed_key
from holdfast.runtime.commits.work_rows import Stimulus

_PLAIN = TypeRegistry()


def wake_keys(found: Stimulus) -> list[int]:
    """The keys of bookmarks that the stimulus fits, apart from instance and correlation id."""
    name = found.event_name
    if name is None:
        return [key_of(found.type, decode(found.payload, _PLAIN))]
    if found.key is not None:
        return [keyed_key(name, decode(found.key, _PLAIN))]
    if found.is_broadcast:
        return [everyone_key(name)]
    return [everyone_key(name), addressed_key(name)]


def fitting(live: LiveInstance, found: Stimulus, keys: list[int]) -> Iterator[Bookmark]:
    """The bookmarks of an instance that fit, oldest first."""
    if found.instance_id not in (None, live.id) or found.correlation_id not in (None, live.correlation_id):
        return
    if live.asleep is not None:
        live.asleep.wake_keys(keys)
    for mark in tuple(awake(live.bookmarks).values()):
        if mark.name == found.type and mark.kind in STORED_KINDS and bookmark_key(mark) in keys:
            yield mark


def open_since(live: LiveInstance, number: int) -> Iterator[int]:
    """The wake keys of waits for stimuli that were opened after bookmark `number`."""
    if live.asleep is not None:
        live.asleep.wake_since(number)
    for mark in reversed(awake(live.bookmarks).values()):
        if int(mark.id[1:]) <= number:
            return
        if mark.kind is BookmarkKind.ACTIVITY:
            yield bookmark_key(mark)
