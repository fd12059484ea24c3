"""Which bookmarks and triggers a stimulus fits (rule H12).

An event fits three kinds of waits, each with a key of its own:

    everyone    the Event activity, and `wait_for(…, broadcast=True)`
    addressed   `wait_for(…)`: what is sent to its instance, or carries its correlation id
    keyed       `wait_for(…, key=…)`: what is sent to that key, from anywhere

A stimulus of another type fits bookmarks of its type and payload, of one instance or correlation if it names one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark
from holdfast.model.requests import EVENT
from holdfast.model.stored import BookmarkQuery, BookmarkRow, correlation_key, wake_key
from holdfast.model.values import TypeRegistry, decode
from holdfast.runtime.durable.messages import Stimulus

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

_PLAIN = TypeRegistry()


def key_of(type_name: str, payload: Any) -> int:
    """The wake key of a stimulus, a bookmark or a trigger of that type and payload."""
    return wake_key(type_name, stimulus_hash(type_name, payload).encode())


def bookmark_key(mark: Bookmark) -> int:
    """The key that a bookmark is stored under. That of an addressed wait leaves its instance out: the stored row names it,
    and a stimulus with a correlation id does not know it."""
    payload = mark.payload
    if mark.name == EVENT and isinstance(payload, dict) and "instance" in payload:
        return addressed_key(payload["event_name"])
    return wake_key(mark.name, mark.hash.encode())


def everyone_key(event_name: str) -> int:
    return key_of(EVENT, {"event_name": event_name})


def addressed_key(event_name: str) -> int:
    return key_of(EVENT, {"event_name": event_name, "addressed": True})


def keyed_key(event_name: str, key: Any) -> int:
    return key_of(EVENT, {"event_name": event_name, "key": key})


def trigger_key(found: Stimulus) -> int:
    """Triggers know no addresses."""
    if found.event_name is not None:
        return everyone_key(found.event_name)
    return key_of(found.type, decode(found.payload, _PLAIN))


def wake_keys(found: Stimulus) -> list[int]:
    """The keys of bookmarks that fit, apart from instance and correlation."""
    name = found.event_name
    if name is None:
        return [key_of(found.type, decode(found.payload, _PLAIN))]
    if found.key is not None:
        return [keyed_key(name, decode(found.key, _PLAIN))]
    if found.is_broadcast:
        return [everyone_key(name)]
    return [everyone_key(name), addressed_key(name)]


def place_of(mark: BookmarkRow) -> Place:
    return mark.instance_id, mark.seq


def age(mark: BookmarkRow) -> tuple[Any, str, int]:
    return mark.created, mark.instance_id, mark.seq


Place = tuple[str, int]
"""A bookmark: instance and number."""


async def oldest(
    node: Node, found: Stimulus, passed: frozenset[str] = frozenset(), declined: Collection[Place] = ()
) -> BookmarkRow | None:
    """The bookmark that an addressed stimulus is for: the oldest that fits. `passed` are instances that do not take it,
    `declined` are bookmarks that have looked at it and passed it by."""
    keys = wake_keys(found)
    if found.instance_id is not None:
        # An instance-addressed stimulus reads the instance (rule M5).
        marks = await node.store.bookmarks_of(node.tenant, found.instance_id)
        fitting = [mark for mark in marks if mark.key in keys and mark.type == found.type]
        correlation = correlation_key(found.correlation_id)
        fitting = [mark for mark in fitting if correlation in (0, mark.correlation) and place_of(mark) not in declined]
        return min(fitting, key=lambda mark: mark.seq, default=None)
    queries = [
        BookmarkQuery(
            tenant=node.tenant,
            key=key,
            correlation=correlation_key(found.correlation_id),
            limit=1 + len(passed) + len(declined),
        )
        for key in keys
    ]
    matches = (await node.store.find_bookmarks(queries)).bookmarks
    fitting = [
        mark
        for marks in matches
        for mark in marks
        if mark.type == found.type and mark.instance_id not in passed and place_of(mark) not in declined
    ]
    return min(fitting, key=age, default=None)


async def page(node: Node, found: Stimulus, limit: int) -> list[BookmarkRow]:
    """Those that a broadcast reaches now, from its cursor on, in order of (instance, seq)."""
    (key,) = wake_keys(found)
    query = BookmarkQuery(
        tenant=node.tenant,
        key=key,
        correlation=correlation_key(found.correlation_id),
        limit=limit,
        oldest=False,
        after=found.after,
    )
    return list((await node.store.find_bookmarks([query])).bookmarks[0])
