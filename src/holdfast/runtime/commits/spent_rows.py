"""Deletion of work rows that have nothing left to do, in the background.

A row that cannot be deleted now stays due: the next node that claims it finds nothing to do and deletes it again.
"""

from __future__ import annotations

import asyncio

from holdfast.errors import StoreError
from holdfast.model.commit import Commit
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import BackgroundTasks


class SpentRows:
    def __init__(self, store: Store, membership: Membership, log: OutageLog) -> None:
        self._store = store
        self._membership = membership
        self._log = log
        self._tasks = BackgroundTasks("a spent work row could not be deleted")

    def delete(self, tenant: str, work_id: str) -> asyncio.Task[None]:
        return self._tasks.start(self._delete(tenant, work_id))

    async def wait(self) -> None:
        await self._tasks.wait()

    async def _delete(self, tenant: str, work_id: str) -> None:
        commit = Commit(tenant=tenant, burst_id=self._membership.next_id(), work_consumed=(work_id,))
        try:
            await self._store.commit([commit])
        except StoreError:
            self._log.warning("work row %s could not be deleted", work_id)
