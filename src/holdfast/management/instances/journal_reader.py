"""Journal entries of an instance with the versions of the commits that wrote them."""

from __future__ import annotations

from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEntry
from holdfast.runtime.commits.state_codec import decode_journal
from holdfast.runtime.facade import Runtime

NumberedEntry = tuple[int, JournalEntry]
"""The version of the commit that wrote the entry, and the entry."""


async def numbered_entries(
    runtime: Runtime, instance_id: str, *, after: int, limit: int
) -> tuple[list[NumberedEntry], int | None]:
    """Entries of at most `limit` commits above the version `after`, and the version to continue after; None at the end."""
    row = await runtime.row(instance_id)
    segments = await runtime.store.read_journal(runtime.tenant, instance_id, after=after, limit=limit)
    try:
        plan = await runtime.plans.plan(row.content)
    except HoldfastError as error:
        raise HoldfastError(f"The journal of {instance_id} cannot be read on this node: {error}") from error
    found = [
        (segment.version, entry) for segment in segments for entry in decode_journal(segment.data, plan, segment.first)
    ]
    return found, segments[-1].version if len(segments) == limit else None
