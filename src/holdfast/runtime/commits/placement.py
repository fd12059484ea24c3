"""Where an effect runs: inline, in the process that committed it, or on a queue, as a step (rule "Effect = step").

With the database as carrier a step is a row of the work table, written by the commit that records the effect: the two cannot
part. With a broker the ticket is sent after the commit, and the sweeper sends again what nobody took.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct, msgpack

from holdfast.execution.plan import Node as PlanNode, Plan
from holdfast.model.ticket import Ticket
from holdfast.model.work import EffectRow, WorkKind, WorkRow
from holdfast.ports import StepDispatcher, Transport

INLINE = "inline"
"""The word for "not on a queue" where a name of a queue is expected."""
STEP_QUEUE = "step:"
"""Before the name of a queue: its steps on the work table, apart from other work of that queue."""


class Placement(Struct, frozen=True, kw_only=True):
    default: str = INLINE
    """The queue of effects that name none themselves."""
    dispatcher: StepDispatcher | None = None
    """What carries steps; None: the work table."""
    transport: Transport | None = None
    """Where tickets are taken from; None: the work table."""

    @property
    def rows(self) -> bool:
        """Whether steps are rows of the work table."""
        return self.dispatcher is None

    def queue_of(self, node: PlanNode) -> str | None:
        queue = node.options.queue or self.default
        return None if queue == INLINE else queue


class StepRef(NamedTuple):
    """What a step's row names."""

    execution: int
    attempt: int


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(tuple[int, int]).decode


def step_priority(plan: Plan, effect: EffectRow) -> int:
    """As its activity says; of one that is not there any more, none."""
    node = plan.by_key.get(effect.activity_id)
    return 0 if node is None else node.options.priority


def step_row(effect: EffectRow, content: str, now: datetime, priority: int) -> WorkRow:
    """One row per attempt: sent again, it is the same row. An effect of a later moment is due then."""
    return WorkRow(
        tenant=effect.tenant,
        id=f"{effect.instance_id}.s{effect.execution}.{effect.attempt}",
        kind=WorkKind.STEP,
        queue=STEP_QUEUE + effect.queue,
        due=effect.created if effect.created > now else None,
        priority=priority,
        instance_id=effect.instance_id,
        content=content,
        created=effect.created,
        payload=_encode((effect.execution, effect.attempt)),
    )


def put_off_row(ticket: Ticket, tenant: str, now: datetime, due: datetime) -> WorkRow:
    """A step that a broker brought too early: the work table brings it again. The same row as another way to it."""
    execution, attempt = ticket.execution or 0, ticket.attempt
    return WorkRow(
        tenant=tenant,
        id=f"{ticket.instance_id}.s{execution}.{attempt}",
        kind=WorkKind.STEP,
        queue=STEP_QUEUE + ticket.queue,
        due=due,
        priority=ticket.priority,
        instance_id=ticket.instance_id,
        content=ticket.content,
        created=now,
        payload=_encode((execution, attempt)),
    )


def read_step(row: WorkRow) -> StepRef:
    return StepRef(*_decode(row.payload))
