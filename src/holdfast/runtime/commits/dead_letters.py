"""Dead letters: work that failed for good, as it was, with the reason."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.model.commit import Commit, Committed
from holdfast.model.work import DeadLetterRow, WorkRow
from holdfast.runtime.commits.state_codec import encode_payload

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

ATTEMPTS = "attempts"
PROCESS_DIED = "process-died"
REFUSED = "refused"
"""Whoever waits for it wants another shape: doing it again gives the same, until it or they are changed."""


def letter(work: WorkRow, reason: str, died: datetime, message: str) -> DeadLetterRow:
    return DeadLetterRow(work=work, reason=reason, died=died, error=encode_payload({"message": message}))


async def bury(node: Node, row: WorkRow, reason: str, message: str, inbox: tuple[str, ...] = ()) -> bool:
    """Leave a letter in place of the row, or of the kept stimulus that it would put back; False if somebody was faster."""
    commit = Commit(
        tenant=row.tenant,
        burst_id=node.next_id(),
        work_consumed=() if inbox else (row.id,),
        inbox_consumed=inbox,
        dead_letters=(letter(row, reason, await node.store.now(), message),),
    )
    (outcome,) = await node.store.commit([commit])
    return isinstance(outcome, Committed)
