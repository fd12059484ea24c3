"""Tickets: the messages on a broker. A ticket refers to work in the store and contains none of it.

The receiver of a ticket looks the work up and drops the ticket if it is repeated, late or outdated. A broker may therefore
lose, repeat and reorder tickets, and no secret is ever in a queue. On the wire a ticket is a JSON object with
`"ticket": 1`; older versions skip fields that newer versions add.
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
"""Ample for ids, a queue name, a principal and a trace."""
_QUEUE = re.compile(r"[A-Za-z0-9._:-]{1,64}(@[A-Za-z0-9._:-]{1,64})?")


class DefinitionRef(NamedTuple):
    """The definition that an instance runs and the content that it pinned."""

    definition_id: str
    version: int
    content: str


class Ticket(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="ticket", tag=1):
    """Announces work of a tenant that the receiver loads from the store."""

    tenant: str = DEFAULT_TENANT
    kind: str = WorkKind.STEP
    instance_id: str | None = None
    execution: int | None = None
    """For a step: the effect's execution in that instance."""
    attempt: int = 1
    """The attempt it was sent for. The store decides whether that attempt is current."""
    work_id: str | None = None
    """For other kinds: the row of the work table."""
    content: str = ""
    """Content of the definition. A worker without its code returns the ticket."""
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    """Higher is delivered first, on transports that support it."""
    principal: str = ""
    """The principal on whose behalf the work runs."""
    trace: str = ""
    """W3C trace context (`traceparent`) of the sender."""


class _Head(Struct, frozen=True):
    """The part that every version of a ticket has."""

    ticket: Literal[1]


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Ticket)
_HEAD = msgspec.json.Decoder(_Head)


def encode_ticket(ticket: Ticket) -> bytes:
    """Raises `UnreadableTicket` for a ticket that is too large or refers to no work."""
    data = _ENCODER.encode(ticket)
    _check(ticket, len(data))
    return data


def decode_ticket(data: bytes) -> Ticket:
    """Raises `UnreadableTicket` with the reason for data that `encode_ticket` did not produce."""
    try:
        _HEAD.decode(data)
        ticket = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableTicket(
            f"The message is not a ticket ({error}). Another program may write to this queue: give Holdfast a prefix of its "
            "own. If a newer version of Holdfast wrote the ticket, update this worker."
        ) from error
    _check(ticket, len(data))
    return ticket


def _check(ticket: Ticket, size: int) -> None:
    if size > TICKET_BYTES_MAX:
        raise UnreadableTicket(
            f"A ticket of {size} bytes is refused: the limit is {TICKET_BYTES_MAX}. Keep data in the store, not in "
            "principal or trace."
        )
    if ticket.work_id is None and (ticket.execution is None or ticket.instance_id is None):
        raise UnreadableTicket(
            "The ticket refers to no work: set instance_id and execution for a step, or work_id for a row."
        )


# -- queues ------------------------------------------------------------------------------------------------------------


def is_queue(name: str) -> bool:
    return _QUEUE.fullmatch(name) is not None


def checked_queue(name: str) -> str:
    """A queue name, followed by `@` and a tenant if the tenant has its own queue."""
    if not is_queue(name):
        raise InvalidId(name, "name of a queue (or queue@tenant)")
    return name


def queue_of(queue: str, tenant: str = DEFAULT_TENANT) -> str:
    """The queue of a tenant with its own queues: `mail` and `acme` give `mail@acme`."""
    return checked_queue(f"{queue}@{tenant}" if tenant else queue)


def split_queue(name: str) -> tuple[str, str]:
    """Queue and tenant of a name that `queue_of` made."""
    queue, _, tenant = checked_queue(name).partition("@")
    return queue, tenant
