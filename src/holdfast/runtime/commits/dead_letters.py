"""Dead letters: work rows that failed for good, with the reason."""

from __future__ import annotations

from datetime import datetime

from holdfast.model.commit import Commit, Committed
from holdfast.model.work import DeadLetterRow, WorkRow
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.payload_codec import encode_payload

ATTEMPTS = "attempts"
PROCESS_DIED = "process-died"
REFUSED = "refused"
"""The payload does not have the shape that the waiting activity expects; a retry gives the same error."""


def letter(work: WorkRow, reason: str, died: datetime, message: str) -> DeadLetterRow:
    return DeadLetterRow(work=work, reason=reason, died=died, error=encode_payload({"message": message}))


class DeadLetters:
    """Replaces work that failed for good by a dead letter."""

    def __init__(self, store: Store, membership: Membership) -> None:
        self._store = store
        self._membership = membership

    async def bury(self, row: WorkRow, reason: str, message: str, inbox: tuple[str, ...] = ()) -> bool:
        """Replace the work row, or the inbox rows that it would restore; False if another commit consumed them first."""
        commit = Commit(
            tenant=row.tenant,
            burst_id=self._membership.next_id(),
            work_consumed=() if inbox else (row.id,),
            inbox_consumed=inbox,
            dead_letters=(letter(row, reason, await self._store.now(), message),),
        )
        (outcome,) = await self._store.commit([commit])
        return isinstance(outcome, Committed)
