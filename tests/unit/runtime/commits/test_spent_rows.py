"""Spent rows: deleted in the background; a row that cannot be deleted now stays for the next claim."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import StoreError, StoreUnavailable
from holdfast.model.commit import Commit
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.testing.store_rows import settlement, work


class FailingStore(MemoryStore):
    error: Exception | None = None

    async def commit(self, batch: Sequence[Commit]) -> Any:
        if self.error is not None:
            raise self.error
        return await super().commit(batch)


async def spent_rows(store: MemoryStore) -> SpentRows:
    membership = Membership("n")
    membership.join(await store.register_node("n", time_to_live=timedelta(minutes=1)), lambda: 1_000_000)
    return SpentRows(store, membership, OutageLog("n"))


async def test_only_the_row_of_that_tenant_is_deleted() -> None:
    store, own, other = MemoryStore(), work("acme", id="w"), work("", id="w")
    spent = await spent_rows(store)
    await store.commit([settlement("acme", work_added=(own,)), settlement("", work_added=(other,))])
    spent.delete("acme", "w")
    await spent.wait()

    assert list(store._tables.work) == [("", "w")]


async def test_a_row_that_is_gone_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    spent = await spent_rows(MemoryStore())
    await spent.delete("", "gone")

    assert caplog.text == ""


@pytest.mark.parametrize("error", [StoreUnavailable("no connection"), StoreError("disk full")])
async def test_a_row_that_cannot_be_deleted_stays(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = FailingStore()
    spent = await spent_rows(store)
    await store.commit([settlement("", work_added=(work("", id="w"),))])
    store.error = error
    await spent.delete("", "w")

    assert list(store._tables.work) == [("", "w")]
    assert "work row w could not be deleted" in caplog.text


async def test_an_error_of_another_kind_is_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    store = FailingStore()
    store.error = ZeroDivisionError("a bug")
    spent = await spent_rows(store)
    spent.delete("", "w")
    await spent.wait()

    assert [(item.levelname, item.message) for item in caplog.records] == [
        ("ERROR", "a spent work row could not be deleted")
    ]
