"""What a store keeps of one instance: its row, its bookmarks, its journal, its values, its incidents.

What is made for every commit is made by position where that is often: each keyword costs as much as a field.

A store never looks into `state`, `payload` or `data`: they are bytes that the engine encoded. Every row is complete by
itself (it names its tenant and instance), since sweeps and claims read rows of many tenants at once.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct

from holdfast.model.instance import Status

DEFAULT_TENANT = ""

ENDED: frozenset[str] = frozenset(status.value for status in Status if status.at_rest)
"""Statuses of instances at rest."""


class InstanceKey(NamedTuple):
    tenant: str
    id: str


class InstanceRow(Struct, frozen=True):
    """One instance as it is stored. In a commit it is the new image: `version` is the version that it gets, so the
    stored one must be `version - 1`, and version 1 creates it. Definition id, parent, `system` and `created` stay as
    version 1 wrote them."""

    id: str
    version: int
    burst_id: str
    """The burst that wrote this version; how an unknown outcome is resolved."""
    status: str
    content: str
    """Hash of the definition's content that the instance is pinned to."""
    definition_id: str
    definition_version: int
    created: datetime
    updated: datetime
    tenant: str = DEFAULT_TENANT
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    system: bool = False
    incidents: int = 0
    """How many incidents are open."""
    finished: datetime | None = None
    state: bytes = b""

    @property
    def key(self) -> InstanceKey:
        return InstanceKey(self.tenant, self.id)


class BookmarkRef(NamedTuple):
    """Enough to find one bookmark of a known instance by the primary key, without another index."""

    key: int
    correlation: int
    seq: int


class BookmarkRow(Struct, frozen=True):
    """Where an instance sleeps. The stored key is (tenant, key, correlation, instance, seq)."""

    instance_id: str
    seq: int
    """Counted in the instance's state."""
    key: int
    """`wake_key(type, payload)`."""
    type: str
    created: datetime
    tenant: str = DEFAULT_TENANT
    correlation: int = 0
    """`correlation_key(…)` of the instance's correlation id; 0 for none."""
    activity_id: str = ""
    payload: bytes = b""

    @property
    def ref(self) -> BookmarkRef:
        return BookmarkRef(self.key, self.correlation, self.seq)


FIRST = ("", 0)
"""The cursor in front of all bookmarks."""


class BookmarkQuery(Struct, frozen=True, kw_only=True):
    """Which bookmarks a stimulus wakes: those of a key, with a correlation only those that carry it."""

    tenant: str = DEFAULT_TENANT
    key: int
    correlation: int = 0
    """0 matches every correlation."""
    limit: int = 1
    oldest: bool = True
    """True: the `limit` oldest by (created, instance, seq). False: a page in order of (instance, seq) after `after`."""
    after: tuple[str, int] = FIRST


class JournalSegment(Struct, frozen=True):
    """What one commit adds to the journal. Every commit has one, if only an empty one that names its burst."""

    version: int
    burst_id: str
    written: datetime
    first: int = 0
    """Sequence of the first entry in `data`."""
    count: int = 0
    data: bytes = b""


class ValueRow(Struct, frozen=True, kw_only=True):
    """An immutable value that the state refers to: loop items, gathered results, anything large. Written once."""

    tenant: str = DEFAULT_TENANT
    instance_id: str
    ref: str
    data: bytes


class IncidentRow(Struct, frozen=True, kw_only=True):
    tenant: str = DEFAULT_TENANT
    instance_id: str
    id: str
    kind: str
    activity_id: str = ""
    occurred: datetime
    open: bool = True
    payload: bytes = b""
    """Message, traceback, values: encoded, since it may hold what the state holds."""


def _with_length(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def _hash64(parts: bytes) -> int:
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=8192)
def wake_key(type_name: str, payload: bytes = b"") -> int:
    """The key of bookmarks, triggers and stimuli: 64 signed bits. Who finds a row by it compares before waking."""
    return _hash64(_with_length(type_name.encode()) + _with_length(payload))


@lru_cache(maxsize=8192)
def correlation_key(correlation_id: str | None) -> int:
    """64 signed bits, never 0 for an id that is given."""
    return 0 if correlation_id is None else _hash64(_with_length(correlation_id.encode())) or 1
