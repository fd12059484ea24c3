"""Wake keys: the 64-bit keys by which stimuli find bookmarks and triggers (rule H12).

An event matches three kinds of waits, each with its own key:

    everyone    the Event activity, and `wait_for(…, broadcast=True)`
    addressed   `wait_for(…)`: events sent to its instance, or with its correlation id
    keyed       `wait_for(…, key=…)`: events sent to that key
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.requests import EVENT
from holdfast.model.stored import wake_key

STORED_KINDS = (BookmarkKind.ACTIVITY, BookmarkKind.CHILD)
"""Kinds of bookmarks that stimuli can find. Timers alone wake the others."""


def key_of(type_name: str, payload: Any) -> int:
    """The wake key of a stimulus, a bookmark or a trigger of that type and payload."""
    return wake_key(type_name, stimulus_hash(type_name, payload).encode())


def bookmark_key(mark: Bookmark) -> int:
    """The key that a bookmark is stored under."""
    return stored_key(mark.name, mark.payload, mark.hash)


def stored_key(name: str, payload: Any, hash_text: str) -> int:
    """The key of an addressed wait leaves its instance out: the row names it, and a stimulus with a correlation id does not
    know it."""
    if name == EVENT and isinstance(payload, dict) and "instance" in payload:
        return addressed_key(payload["event_name"])
    return wake_key(name, hash_text.encode())


def everyone_key(event_name: str) -> int:
    return _event_key(event_name, addressed=False)


def addressed_key(event_name: str) -> int:
    return _event_key(event_name, addressed=True)


@lru_cache(maxsize=8192, typed=True)
def _event_key(event_name: str, *, addressed: bool) -> int:
    """Cached: every event needs its key, and event names are few. `typed`: 1 and True are different names."""
    return key_of(EVENT, {"event_name": event_name, **({"addressed": True} if addressed else {})})


def keyed_key(event_name: str, key: Any) -> int:
    return key_of(EVENT, {"event_name": event_name, "key": key})
