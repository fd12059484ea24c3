"""Work rows that one instance sends to another: written by its commit, read by the node that claims them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from holdfast import Workflow
from holdfast.activities import DispatchWorkflow, Event, ExecuteWorkflow, Sequence, SetOutput
from holdfast.model.requests import DispatchInstance
from holdfast.runtime.commits import work_rows
from holdfast.runtime.payload_codec import decode_payload
from holdfast.testing.store_rows import AT, effect, stimulus
from tests.support.commit_pipeline import begun


def parent(wait: bool = True) -> Any:
    body = ExecuteWorkflow("child", input={"price": Decimal("1.20")}, wait=True) if wait else DispatchWorkflow("child")
    return begun(Workflow(Sequence(body), id="w"), principal="ann", trace="t-1")


def started(live: Any, tenant: str = "") -> Any:
    (wanted,) = live.child_starts
    return work_rows.start(tenant, live, wanted, AT)


# -- children ----------------------------------------------------------------------------------------------------------


def test_a_start_row_brings_typed_inputs_and_the_identity_of_the_parent() -> None:
    live = parent()
    row = started(live, "acme")
    request = work_rows.read_start(row)

    assert (row.tenant, row.kind, row.queue, row.id) == ("acme", "start", "default@acme", f"{row.instance_id}.start")
    assert (request.reference, request.instance_id, request.wait) == ("child", row.instance_id, True)
    assert (request.principal, request.trace) == ("ann", "t-1")
    assert work_rows.start_inputs(request, live.plan.types) == {"price": Decimal("1.20")}
    (mark,) = live.bookmarks
    assert work_rows.parent_of(request.parent_id) == ("i", mark)


def test_a_parent_that_does_not_wait_has_no_bookmark() -> None:
    live = parent(wait=False)
    request = work_rows.read_start(started(live))

    assert (request.wait, work_rows.parent_of(request.parent_id)) == (False, ("i", ""))


def test_a_start_of_the_application_has_no_parent() -> None:
    live = parent()
    row = work_rows.application_start(
        "", "o-1", "order", {"n": 1}, types=live.plan.types, content="c", correlation_id="c-1", name="Order", now=AT
    )
    request = work_rows.read_start(row)

    assert (request.parent_id, request.correlation_id, request.name, row.content) == ("", "c-1", "Order", "c")
    assert work_rows.start_inputs(request, live.plan.types) == {"n": 1}


def test_a_cancel_row_brings_the_cause() -> None:
    row = work_rows.cancel("", "child", "terminated", AT)

    assert (row.id, row.kind, row.instance_id, row.payload) == ("child.cancel", "cancel", "child", b"terminated")
    assert work_rows.cancel("", "child", None, AT).payload == b""


# -- the parent --------------------------------------------------------------------------------------------------------


def test_the_end_of_a_child_resumes_the_bookmark_of_its_parent_with_the_outputs() -> None:
    body = Sequence(SetOutput("total", 7))
    live = begun(Workflow(body, id="w", outputs={"total": int}), parent_id="parent#b3")
    live.commits = 2
    row = work_rows.ended("", live, AT)

    assert (row.id, row.kind, row.instance_id, row.bookmark_seq) == ("i.end2", "resume", "parent", 3)
    assert decode_payload(row.payload, live.plan.types) == {
        "instance_id": "i", "status": "finished", "outputs": {"total": 7}
    }  # fmt: skip


def test_the_begin_and_the_end_of_a_child_are_different_rows() -> None:
    live = begun(Workflow(Sequence(Event("a")), id="w"), parent_id="parent#b3")

    assert work_rows.begun("", live, AT).id == "i.begun"
    assert work_rows.begun("", live, AT).id != work_rows.ended("", live, AT).id


def test_an_output_that_is_not_set_is_not_sent() -> None:
    live = begun(Workflow(Sequence(Event("a")), id="w", outputs={"total": int}))
    assert work_rows.outputs_of(live) == {}

    live.spare_outputs = {"extra": 1}
    assert work_rows.outputs_of(live) == {"extra": 1}


# -- stimuli -----------------------------------------------------------------------------------------------------------


def test_a_stimulus_comes_back_from_work_and_inbox_rows() -> None:
    found = work_rows.Stimulus(id="s", event_name="paid", input={"n": 1}, key="k", after=("i", 3), taken=True)
    row = work_rows.stimulus("acme", found, AT)

    assert (row.id, row.kind, row.queue) == ("s", "stimulus", "default@acme")
    assert work_rows.read_stimulus(row) == found
    assert work_rows.read_inbox_row(stimulus("", payload=work_rows.encoded(found))) == found
    assert work_rows.stimulus("acme", found, AT, queue="other").queue == "other"


def test_only_a_stimulus_without_an_address_is_a_broadcast() -> None:
    make = work_rows.Stimulus

    assert make(id="s").is_broadcast
    assert make(id="s", correlation_id="c", broadcast=True).is_broadcast
    assert not make(id="s", correlation_id="c").is_broadcast
    assert not make(id="s", instance_id="i").is_broadcast
    assert not make(id="s", key="k").is_broadcast


def test_a_published_event_brings_the_identity_of_its_instance() -> None:
    live = parent()
    event = {"name": "paid", "payload": {"n": 1}, "correlation_id": "c-1", "local": False}
    found = work_rows.published(live, "i.e1.0", event)

    assert (found.id, found.event_name, found.correlation_id) == ("i.e1.0", "paid", "c-1")
    assert (found.principal, found.trace, found.is_broadcast) == ("ann", "t-1", False)
    assert decode_payload(work_rows.encoded_input(found), live.plan.types) == {"n": 1}


# -- dispatched and replayed -------------------------------------------------------------------------------------------


def test_a_dispatched_request_comes_back() -> None:
    request = DispatchInstance(instance_id="i", input={"price": Decimal("1.20")})
    row = work_rows.run("", "r", request, "c", AT, priority=3)

    assert (row.id, row.kind, row.instance_id, row.priority) == ("r", "run", "i", 3)
    assert work_rows.read_run(row.payload, parent().plan.types) == request
    assert work_rows.begin("", "i", "c", AT).id == "i.begin"


def test_the_row_of_a_dead_letter_names_its_execution() -> None:
    failed = effect("acme", "i", 3, attempt=2)
    row = work_rows.replay_row(failed, AT)

    assert (row.tenant, row.id, row.kind) == ("acme", "i.x3.2", "retry")
    assert work_rows.read_replay(row) == 3
