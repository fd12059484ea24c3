"""Shares of queues: one for the unlimited queues of a tenant, and one for each limited queue."""

from __future__ import annotations

from typing import Any

from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits import cluster
from holdfast.runtime.steps.limits.local import POLL_SECONDS, LocalLimit
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.queue_share import QueueShare, shares_of


def shares(local: dict[str, Limit], limits: dict[str, Limit], tenants: tuple[str, ...] = ("acme",)) -> list[QueueShare]:
    reader: Any = None
    return list(
        shares_of(
            MemoryStore(), Membership("a"), reader, OutageLog("a"), tenants, ["default", "gpu", "mail"], local, limits
        )
    )


def test_unlimited_queues_of_a_tenant_share() -> None:
    assert [share.queues for share in shares({}, {}, ("acme", "globex"))] == [
        ["default@acme", "gpu@acme", "mail@acme"],
        ["default@globex", "gpu@globex", "mail@globex"],
    ]


def test_a_limited_queue_is_a_share_of_its_own() -> None:
    made = shares({"gpu": Limit(concurrency=1)}, {"mail": Limit(concurrency=5)})

    assert [share.queues for share in made] == [["default@acme"], ["gpu@acme"], ["mail@acme"]]
    assert [share.cluster_limit is not None for share in made] == [False, False, True]
    assert [share.room(10) for share in made] == [10, 1, 10]
    assert [share.poll_seconds for share in made] == [POLL_SECONDS, POLL_SECONDS, cluster.POLL_SECONDS]


def test_a_limit_per_value_alone_does_not_limit_the_queue() -> None:
    made = shares({"mail": Limit(per_value={"customer": Limit(concurrency=1)})}, {})

    assert [(share.queues, share.per_value is not None) for share in made] == [
        (["default@acme", "gpu@acme"], False),
        (["mail@acme"], True),
    ]
    assert [share.room(10) for share in made] == [10, 10]


def test_steps_that_start_run_or_are_promised_use_the_limit() -> None:
    share = QueueShare(["gpu@acme"], LocalLimit(Limit(concurrency=4)))
    share.begin("row")
    share.running.add((("acme", "i"), 1))  # type: ignore[arg-type]
    share.reserved = 1

    assert share.used == 2
    assert (share.room(10), share.room(0)) == (1, 0)


def test_a_start_spends_a_token() -> None:
    share = QueueShare(["sms@acme"], LocalLimit(Limit(per_second=1.0)))
    assert share.room(10) == 1
    share.begin("row")
    share.starting.clear()

    assert share.room(10) == 0
