"""The activation slot in a commit: taken by the start, moved with the correlation id, released by the end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from holdfast.execution.activation_slot import no_slot
from holdfast.model.guard import Guard, activation_slot, idempotency_key
from holdfast.model.instance import Status
from holdfast.runtime.commits.activation_slots import slots
from holdfast.runtime.commits.baseline import NEW, Baseline, Consumed

KEY = idempotency_key(operation="start", target="order", key="k")


def slot(correlation_id: str | None) -> Guard:
    return activation_slot(strategy="correlation", correlation_id=correlation_id or "")


def live(status: Status, correlation_id: str = "c-1", rule: Any = slot) -> Any:
    """The part of an instance that the function reads."""
    return SimpleNamespace(plan=SimpleNamespace(slot=rule), status=status, correlation_id=correlation_id)


def test_without_a_strategy_only_the_keys_of_the_request_are_taken() -> None:
    assert slots(live(Status.RUNNING, rule=no_slot), NEW, Consumed(guards=(KEY,))) == ((KEY,), ())


def test_a_start_takes_the_slot_beside_its_keys() -> None:
    assert slots(live(Status.SUSPENDED), NEW, Consumed(guards=(KEY,))) == ((KEY, slot("c-1")), ())


def test_a_start_that_ends_in_its_first_burst_takes_none() -> None:
    assert slots(live(Status.FINISHED), NEW, Consumed()) == ((), ())


def test_a_slot_that_is_held_is_not_taken_again() -> None:
    assert slots(live(Status.SUSPENDED), Baseline(1, "c-1"), Consumed()) == ((), ())


def test_a_new_correlation_id_moves_the_slot() -> None:
    assert slots(live(Status.SUSPENDED, "c-2"), Baseline(1, "c-1"), Consumed()) == ((slot("c-2"),), (slot("c-1").ref,))


def test_the_end_releases_the_slot() -> None:
    assert slots(live(Status.FINISHED), Baseline(1, "c-1"), Consumed()) == ((), (slot("c-1").ref,))


def test_the_retry_of_a_faulted_instance_takes_it_again() -> None:
    assert slots(live(Status.RUNNING), Baseline(2, "c-1", at_rest=True), Consumed()) == ((slot("c-1"),), ())
