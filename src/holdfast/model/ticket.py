"""A ticket: what a broker carries. It names work that is kept in the store and holds none of it.

Whoever takes a ticket looks the work up and finds it as the ticket says, or drops the ticket: it was repeated, came late
or was overtaken. So a broker may lose, repeat and reorder tickets, and a secret never lies in a queue. On the wire a
ticket is a JSON object with `"ticket": 1`; fields that a newer version adds are skipped by an older one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from holdfast.errors import InvalidId, UnreadableTicket
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import DEFAULT_QUEUE, WorkKind

TICKET_BYTES_MAX = 16 * 1024
"""Ids, a queue's name, a principal and a trace fit many times; what is longer is no ticket."""
_QUEUE = re.compile(r"[A-Za-z0-9._:-]{1,64}(@[A-Za-z0-9._:-]{1,64})?")


class DefinitionRef(NamedTuple):
    """Which definition an instance runs, and the content that it pinned."""

    definition_id: str
    version: int
    content: str


class Ticket(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="ticket", tag=1):
    """Says: this work of this tenant waits; fetch it from the store."""

    tenant: str = DEFAULT_TENANT
    kind: str = WorkKind.STEP
    instance_id: str | None = None
    execution: int | None = None
    """For a step: the effect's execution in that instance."""
    attempt: int = 1
    """The attempt for which it was sent; the store knows whether it is still that one."""
    work_id: str | None = None
    """For other kinds: the row of the work table."""
    content: str = ""
    """The definition's content; who lacks its code gives the ticket back."""
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    """Higher goes first, on transports that can."""
    principal: str = ""
    """On whose behalf."""
    trace: str = ""
    """W3C trace context (`traceparent`) of who sent it."""


class _Head(Struct, frozen=True):
    """The only part that every version of a ticket has."""

    ticket: Literal[1]


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Ticket)
_HEAD = msgspec.json.Decoder(_Head)


def encode_ticket(ticket: Ticket) -> bytes:
    """Raises `UnreadableTicket` for a ticket that nobody could use."""
    data = _ENCODER.encode(ticket)
    _check(ticket, len(data))
    return data


def decode_ticket(data: bytes) -> Ticket:
    """Raises `UnreadableTicket` for anything that `encode_ticket` did not make, with the reason."""
    try:
        _HEAD.decode(data)
        ticket = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableTicket(
            f"This is no ticket ({error}). Who else writes to this queue? Give Holdfast a prefix of its own; "
            "if a newer version wrote it, update this worker."
        ) from error
    _check(ticket, len(data))
    return ticket


def _check(ticket: Ticket, size: int) -> None:
    if size > TICKET_BYTES_MAX:
        raise UnreadableTicket(
            f"A ticket of {size} bytes is refused: it has at most {TICKET_BYTES_MAX}. Keep data in the store, not in "
            "principal or trace."
        )
    if ticket.work_id is None and (ticket.execution is None or ticket.instance_id is None):
        raise UnreadableTicket(
            "The ticket names no work: give it instance_id and execution of a step, or work_id of a row."
        )


# -- queues ------------------------------------------------------------------------------------------------------------


def is_queue(name: str) -> bool:
    return _QUEUE.fullmatch(name) is not None


def checked_queue(name: str) -> str:
    """A queue's name, with a tenant after `@` where the tenant has a queue of its own."""
    if not is_queue(name):
        raise InvalidId(name, "name of a queue (or queue@tenant)")
    return name


def queue_of(queue: str, tenant: str = DEFAULT_TENANT) -> str:
    """Where work of a tenant with a queue of its own goes: `mail` and `acme` make `mail@acme`."""
    return checked_queue(f"{queue}@{tenant}" if tenant else queue)


def split_queue(name: str) -> tuple[str, str]:
    """The queue and the tenant that `queue_of` joined."""
    queue, _, tenant = checked_queue(name).partition("@")
    return queue, tenant
