"""Which bookmarks and triggers a stimulus fits (rule H12).

An event fits three kinds of waits, each with a key of its own:

    everyone    the Event activity, and `wait_for(…, broadcast=True)`
    addressed   `wait_for(…)`: what is sent to its instance, or carries its correlation id
    keyed       `wait_for(…, key=…)`: what is sent to that key, from anywhere

A stimulus of another type fits bookmarks of its type and payload, of one instance or correlation if it names one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.errors import InstanceAtRest
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.requests import EVENT
from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceRow, correlation_key, wake_key
from holdfast.model.values import TypeRegistry, decode
from holdfast.runtime.commits.large_values import is_split, unpack_state
from holdfast.runtime.commits.work_rows import Stimulus

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

_PLAIN = TypeRegistry()
STORED_KINDS = (BookmarkKind.ACTIVITY, BookmarkKind.CHILD)
"""Kinds that stimuli can find. The others are woken by their timer alone."""


def key_of(type_name: str, payload: Any) -> int:
    """The wake key of a stimulus, a bookmark or a trigger of that type and payload."""
    return wake_key(type_name, stimulus_hash(type_name, payload).encode())


def bookmark_key(mark: Bookmark) -> int:
    """The key that a bookmark is stored under. That of an addressed wait leaves its instance out: the stored row names it,
    and a stimulus with a correlation id does not know it."""
    return _stored_key(mark.name, mark.payload, mark.hash)


def _stored_key(name: str, payload: Any, hash_text: str) -> int:
    if name == EVENT and isinstance(payload, dict) and "instance" in payload:
        return addressed_key(payload["event_name"])
    return wake_key(name, hash_text.encode())


def everyone_key(event_name: str) -> int:
    return _event_key(event_name, addressed=False)


def addressed_key(event_name: str) -> int:
    return _event_key(event_name, addressed=True)


@lru_cache(maxsize=8192, typed=True)
def _event_key(event_name: str, *, addressed: bool) -> int:
    """Asked for with every event, and there are few names. `typed`: 1 and True are two names."""
    return key_of(EVENT, {"event_name": event_name, **({"addressed": True} if addressed else {})})


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
    `declined` are bookmarks that have looked at it and passed it by. Raises `InstanceAtRest` or `InstanceNotFound` if it is for
    an instance that takes nothing any more."""
    if found.instance_id is not None:
        return at_hand(node, found, declined) or await _in_instance(node, found, found.instance_id, declined)
    keys = wake_keys(found)
    queries = [
        BookmarkQuery(
            tenant=node.tenant,
            key=key,
            correlation=correlation_key(found.correlation_id),
            limit=1 + len(passed) + len(declined),
        )
        for key in keys
    ]
    matches = await node.store.find_bookmarks(queries)
    fitting = [
        mark
        for marks in matches.bookmarks
        for mark in marks
        if mark.type == found.type and mark.instance_id not in passed and place_of(mark) not in declined
    ]
    if not fitting:
        return None
    mark = fitting[0] if len(fitting) == 1 else min(fitting, key=age)
    forget_older(node, mark)
    return mark


def forget_older(node: Node, mark: BookmarkRow) -> None:
    """A hot row from before the bookmark does not have it: the lane need not try. Whether one is old cannot be told for
    certain by the clocks of several nodes; the version check does."""
    row = node.hot.get(mark.instance_id)
    if row is not None and row.updated < mark.created:
        node.forget(mark.instance_id)


# -- an instance-addressed stimulus reads the instance (rule M5) -------------------------------------------------------


def at_hand(node: Node, found: Stimulus, declined: Collection[Place] = ()) -> BookmarkRow | None:
    """The bookmark, as far as this node knows without asking the store. It may be gone, which its commit will tell; that
    there is none may be old."""
    row = node.hot.get(found.instance_id or "")
    return None if row is None or is_split(row.state) else _fitting(found, row, {}, declined)


async def _in_instance(
    node: Node, found: Stimulus, instance_id: str, declined: Collection[Place]
) -> BookmarkRow | None:
    row, large = await node.state(instance_id)
    if row.finished is not None:
        raise InstanceAtRest(instance_id, row.status, remedy="Nobody reads what is sent to it.")
    node.saw(row)
    return _fitting(found, row, large, declined)


def _fitting(
    found: Stimulus, row: InstanceRow, large: Mapping[str, bytes], declined: Collection[Place]
) -> BookmarkRow | None:
    """The oldest bookmark of an instance that fits."""
    mine = correlation_key(row.correlation_id)
    if correlation_key(found.correlation_id) not in (0, mine):
        return None
    keys = wake_keys(found)
    for mark in unpack_state(row.state, large).bookmarks:
        seq = int(mark.id[1:])
        if mark.name != found.type or mark.kind not in STORED_KINDS or (row.id, seq) in declined:
            continue
        key = _stored_key(mark.name, mark.payload, mark.hash.hex())
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
