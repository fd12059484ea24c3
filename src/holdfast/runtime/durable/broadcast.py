"""A published event goes to all that wait for it now: in pages, each an addressed row per instance, and the cursor.

Page and cursor are one commit (rule M6), and a delivery's id is made of event and bookmark: whoever dies half-way leaves the
rest to the next, and nobody hears it twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.model.commit import Commit, Committed
from holdfast.model.hashing import stimulus_hash
from holdfast.model.stored import BookmarkQuery, BookmarkRow, correlation_key, wake_key
from holdfast.model.work import WorkRow
from holdfast.runtime.durable import messages

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

PAGE = 100
EVENT = "Event"
"""The type of the activity that waits for events."""


async def deliver_page(node: Node, row: WorkRow) -> None:
    """Write the rows of one page; the last page uses the event up."""
    event = messages.read_stimulus(row)
    key = wake_key(EVENT, stimulus_hash(EVENT, {"event_name": event.name}).encode())
    query = BookmarkQuery(
        tenant=row.tenant,
        key=key,
        correlation=correlation_key(event.correlation_id),
        limit=PAGE,
        oldest=False,
        after=event.after,
    )
    found = (await node.store.find_bookmarks([query])).bookmarks[0]
    added = [_delivery(row, event, mark) for mark in found]
    if len(found) == PAGE:
        last = found[-1]
        rest = replace(event, after=(last.instance_id, last.seq))
        added.append(replace(row, id=f"{row.id}+", payload=messages.encoded(rest)))
    commit = Commit(tenant=row.tenant, burst_id=node.next_id(), work_consumed=(row.id,), work_added=tuple(added))
    (outcome,) = await node.store.commit([commit])
    if isinstance(outcome, Committed):
        node.uptake.take_own(added)


def _delivery(row: WorkRow, event: messages.Published, mark: BookmarkRow) -> WorkRow:
    return messages.resume(
        row.tenant,
        f"{row.id.rstrip('+')}>{mark.instance_id}.{mark.seq}",
        mark.instance_id,
        f"b{mark.seq}",
        messages.encoded_payload(event),
        row.created,
    )
