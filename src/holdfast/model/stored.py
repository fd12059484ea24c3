"""Rows of one instance in a store: instance, bookmarks, journal, values, incidents.

Classes that every commit creates take positional arguments: each keyword costs as much as a field.

A store never interprets `state`, `payload` or `data`: they are bytes that the engine encoded. Every row names its tenant and
instance, since sweeps and claims read rows of many tenants.
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
"""Statuses of ended instances."""


class InstanceKey(NamedTuple):
    tenant: str
    id: str


class InstanceRow(Struct, frozen=True):
    """A stored instance. In a commit it is the new image: `version` is the new version, so the stored version must be
    `version - 1`, and version 1 creates the instance. Definition id, parent, `system` and `created` keep the values of
    version 1."""

    id: str
    version: int
    burst_id: str
    """The burst that wrote this version; resolves an unknown outcome."""
    status: str
    content: str
    """Hash of the definition content that the instance pinned."""
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
    """Number of open incidents."""
    finished: datetime | None = None
    state: bytes = b""

    @property
    def key(self) -> InstanceKey:
        return InstanceKey(self.tenant, self.id)


class BookmarkRef(NamedTuple):
    """Finds one bookmark of a known instance by primary key, without another index."""

    key: int
    correlation: int
    seq: int


class BookmarkRow(Struct, frozen=True):
    """A wait of an instance. The stored key is (tenant, key, correlation, instance, seq)."""

    instance_id: str
    seq: int
    """Sequence number within the instance."""
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
"""Cursor before the first bookmark."""


class BookmarkQuery(Struct, frozen=True, kw_only=True):
    """Bookmarks that a stimulus resumes: those of a key, and of a correlation if one is given."""

    tenant: str = DEFAULT_TENANT
    key: int
    correlation: int = 0
    """0 matches every correlation."""
    limit: int = 1
    oldest: bool = True
    """True: the `limit` oldest by (created, instance, seq). False: a page in order of (instance, seq) after `after`."""
    after: tuple[str, int] = FIRST
    address: int | None = None
    """Also ask whether mail of this address is stored: a stimulus that is sent needs both answers (rule H16)."""


class JournalSegment(Struct, frozen=True):
    """Journal entries of one commit. Every commit has a segment; an empty one still names its burst."""

    version: int
    burst_id: str
    written: datetime
    first: int = 0
    """Sequence number of the first entry in `data`."""
    count: int = 0
    data: bytes = b""


class ValueRow(Struct, frozen=True, kw_only=True):
    """An immutable value that the state refers to, for large data such as loop items and gathered results. Written once."""

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
    """Message, traceback and values; encoded, since it may contain data of the state."""


def _with_length(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def _hash64(parts: bytes) -> int:
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=8192)
def wake_key(type_name: str, payload: bytes = b"") -> int:
    """Key of bookmarks, triggers and stimuli: 64 signed bits. Hashes can collide: compare the row before resuming it."""
    return _hash64(_with_length(type_name.encode()) + _with_length(payload))


@lru_cache(maxsize=8192)
def correlation_key(correlation_id: str | None) -> int:
    """64 signed bits; 0 means no correlation id."""
    return 0 if correlation_id is None else _hash64(_with_length(correlation_id.encode())) or 1
