"""Tickets of steps: the tenant comes from the row or the ticket."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.errors import UnreadableTicket
from holdfast.model.stored import InstanceKey
from holdfast.model.ticket import Ticket
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.placement import RESEND_AFTER, RESEND_PAUSE_MAX, is_stale, resend_pause, step_row
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.ticket_intake import is_step_of
from holdfast.runtime.steps.tickets import CarriedTicket, RowTicket

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EFFECT = EffectRow("i1", 3, "charge", "Charge", NOW, attempt=2, queue="mail@acme", tenant="acme")


def test_a_row_and_a_carried_ticket_name_the_same_step() -> None:
    store = MemoryStore()
    spent = SpentRows(store, Membership("a"), OutageLog("a"))
    row = RowTicket(store, spent, step_row(EFFECT, "content", NOW, 0))
    carried = CarriedTicket(Ticket(tenant="acme", instance_id="i1", execution=3, attempt=2, content="content"))

    for ticket in (row, carried):
        assert ticket.key == InstanceKey("acme", "i1")
        assert ticket.ref == EffectRef(3, 2, NO_OWNER)
        assert ticket.content == "content"


def test_a_ticket_without_a_step_is_refused() -> None:
    with pytest.raises(UnreadableTicket):
        CarriedTicket(Ticket(instance_id="i1"))


def test_steps_of_other_tenants_are_not_taken() -> None:
    ticket = Ticket(tenant="acme", instance_id="i1", execution=3)
    assert is_step_of(ticket, ("acme", "other"))
    assert not is_step_of(ticket, ("other",))
    assert not is_step_of(Ticket(tenant="acme", work_id="w"), ("acme",))


def test_a_step_is_sent_again_with_growing_pauses() -> None:
    assert not is_stale(EFFECT, NOW + RESEND_AFTER - timedelta(seconds=1))
    assert is_stale(EFFECT, NOW + RESEND_AFTER)
    pauses = [resend_pause(timedelta(0))]
    for _ in range(10):
        pauses.append(resend_pause(pauses[-1]))
    assert pauses[:3] == [RESEND_AFTER, 2 * RESEND_AFTER, 4 * RESEND_AFTER]
    assert pauses[-1] == RESEND_PAUSE_MAX
