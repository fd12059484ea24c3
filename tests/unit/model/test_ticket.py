"""Tickets survive the wire, and what is no ticket is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidId, UnreadableTicket
from holdfast.model.ticket import (
    TICKET_BYTES_MAX,
    Ticket,
    checked_queue,
    decode_ticket,
    encode_ticket,
    is_queue,
    queue_of,
    split_queue,
)

NAMES = st.from_regex(r"[A-Za-z0-9._:-]{1,64}", fullmatch=True)
TEXTS = st.text(max_size=50).filter(lambda text: text.isprintable())


@given(
    st.builds(
        Ticket,
        tenant=TEXTS,
        kind=st.sampled_from(["step", "start", "resume"]),
        instance_id=NAMES,
        execution=st.integers(0, 2**53),
        attempt=st.integers(1, 100),
        work_id=st.none() | NAMES,
        content=NAMES,
        queue=NAMES,
        priority=st.integers(-9, 9),
        principal=TEXTS,
        trace=TEXTS,
    )
)
def test_a_ticket_comes_back_as_it_was(ticket: Ticket) -> None:
    assert decode_ticket(encode_ticket(ticket)) == ticket


def test_a_ticket_is_small_and_holds_only_what_differs() -> None:
    data = encode_ticket(Ticket(instance_id="order-1", execution=7))

    assert json.loads(data) == {"ticket": 1, "instance_id": "order-1", "execution": 7}
    assert len(data) < 60


@given(st.binary(max_size=200))
def test_bytes_that_are_no_ticket_never_pass(data: bytes) -> None:
    with pytest.raises(UnreadableTicket):
        decode_ticket(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"instance_id": "i", "execution": 1}', "missing required field `ticket`"),
        (b'{"ticket": 2, "instance_id": "i", "execution": 1}', "update this worker"),
        (b'{"ticket": 1, "instance_id": "i", "execution": "one"}', "Expected `int"),
        (b'{"ticket": 1, "instance_id": "i"}', "refers to no work"),
        (b'{"ticket": 1, "execution": 3}', "refers to no work"),
        (b'{"ticket": 1, "work_id": "w", "trace": "' + b"x" * TICKET_BYTES_MAX + b'"}', "the limit is 16384"),
        (b'{"ticket": 1, "work_id": "\xff"}', "not a ticket"),
    ],
)
def test_the_reason_is_told(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableTicket, match=message):
        decode_ticket(data)


def test_fields_of_a_newer_version_are_skipped() -> None:
    assert decode_ticket(b'{"ticket": 1, "work_id": "w", "colour": "blue"}') == Ticket(work_id="w")


def test_a_ticket_for_nothing_is_not_sent() -> None:
    with pytest.raises(UnreadableTicket, match="refers to no work"):
        encode_ticket(Ticket(instance_id="i"))


@given(NAMES, st.just("") | NAMES)
def test_queue_and_tenant_are_joined_and_split(queue: str, tenant: str) -> None:
    assert split_queue(queue_of(queue, tenant)) == (queue, tenant)


@pytest.mark.parametrize("name", ["", "a b", "mail/x", "a@b@c", "@a", "a@", "größe", "x" * 65, "a\n"])
def test_names_that_are_no_queues(name: str) -> None:
    assert not is_queue(name)
    with pytest.raises(InvalidId, match="queue@tenant"):
        checked_queue(name)
