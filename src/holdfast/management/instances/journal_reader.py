"""Journal entries of an instance with the versions of the commits that wrote them, in bounded pages.

A commit may have 100,000 entries, so a page can end within a commit: its position is a version and a number of entries of the
following commit.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEntry
from holdfast.runtime.commits.state_codec import decode_journal
from holdfast.runtime.facade import Runtime

NumberedEntry = tuple[int, JournalEntry]
"""The version of the commit that wrote the entry, and the entry."""
COMMITS_READ = 100
"""Commits in one read of the store."""


class JournalPosition(NamedTuple):
    after: int = 0
    """Version of the last commit that was read completely."""
    skip: int = 0
    """Entries of the following commit that were read."""


class JournalLimits(Struct, frozen=True, kw_only=True):
    """A page has at least one entry, and ends before it exceeds a limit."""

    commits: int
    entries: int = 2_000
    bytes: int = 1_000_000
    """Stored size of the entries, before compression. As JSON they are larger."""


class JournalWindow(NamedTuple):
    entries: list[NumberedEntry]
    following: JournalPosition | None
    """None at the end of the journal."""


async def numbered_entries(
    runtime: Runtime, instance_id: str, position: JournalPosition, limits: JournalLimits
) -> JournalWindow:
    row = await runtime.row(instance_id)
    try:
        plan = await runtime.plans.plan(row.content)
    except HoldfastError as error:
        raise HoldfastError(f"The journal of {instance_id} cannot be read on this node: {error}") from error
    found: list[NumberedEntry] = []
    commits = used = 0
    after, skip = position
    while True:
        want = min(COMMITS_READ, limits.commits - commits)
        segments = await runtime.store.read_journal(runtime.tenant, instance_id, after=after, limit=want)
        for segment in segments:
            size = len(segment.data) / max(1, segment.count)
            room = min(limits.entries - len(found), int((limits.bytes - used) / max(1.0, size)))
            if found and room < 1:
                return JournalWindow(found, JournalPosition(after, skip))
            entries = decode_journal(segment.data, plan, segment.first)[skip : skip + max(1, room)]
            found += [(segment.version, entry) for entry in entries]
            used += int(size * len(entries))
            if skip + len(entries) < segment.count:
                return JournalWindow(found, JournalPosition(after, skip + len(entries)))
            after, skip = segment.version, 0
        commits += len(segments)
        if len(segments) < want:
            return JournalWindow(found, None)
        if commits >= limits.commits:
            return JournalWindow(found, JournalPosition(after, skip))
