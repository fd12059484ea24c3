"""Stimuli that were kept for an instance until it ended: its journal says that nobody read them (rule H12).

Whoever keeps one puts a row on the work table that looks after it, ever more rarely; the node that kept it looks at once when the
instance ends here.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.errors import InstanceNotFound
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.work import WorkKind, WorkRow, queue_of
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.base import Job

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

FIRST_LOOK = timedelta(minutes=1)
RARELY = timedelta(hours=6)
_ENDED = (Status.FINISHED, Status.CANCELED)


class UnreadJob(Job):
    """Writes down what an instance that has ended did not read."""

    __slots__ = ("consumes_inbox", "told")

    idle = True

    def __init__(self, instance_id: str, told: list[str], inbox: tuple[str, ...], consumes_work: str) -> None:
        super().__init__(instance_id, consumes_work=consumes_work)
        self.told = told
        self.consumes_inbox = inbox

    def apply(self, live: LiveInstance) -> bool:
        for name in self.told:
            live.note(JournalEvent.UNREAD, None, {"name": name})
        return True


def looking(tenant: str, instance_id: str, now: datetime) -> WorkRow:
    """The row that looks after what is kept for an instance: one, however many are kept."""
    return WorkRow(
        tenant=tenant,
        id=f"{instance_id}.unread",
        kind=WorkKind.UNREAD,
        queue=queue_of(tenant),
        instance_id=instance_id,
        due=now + FIRST_LOOK,
        created=now,
    )


async def look(node: Node, row: WorkRow) -> int:
    """Has it ended? Then write down what it did not read; else look again later. How many there were."""
    name = row.instance_id
    assert name is not None
    try:
        stored = await node.row(name)
    except InstanceNotFound:
        node.use_up(row.id)
        return 0
    kept = await node.store.inbox_of(row.tenant, name)
    if not kept:
        node.use_up(row.id)
        return 0
    if stored.status not in _ENDED:
        now = node.clock.now()
        await node.store.defer([row], now + min(max(now - row.created, FIRST_LOOK), RARELY))
        return 0
    found = {item.id: work_rows.read_kept(item) for item in kept}
    told = list({stimulus.id: stimulus.event_name or stimulus.type for stimulus in found.values()}.values())
    job = UnreadJob(name, told, tuple(found), row.id)
    assert job.answer is not None
    node.submit(job)
    answer = await job.answer
    return 0 if answer.result is None else len(told)


async def keep_looking(node: Node, instance_id: str) -> None:
    """Put the row there, if it is not."""
    await node.store.enqueue([looking(node.tenant, instance_id, node.clock.now())])
