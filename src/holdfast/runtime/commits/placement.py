"""Placement of effects: inline, in the process that committed them, or on a queue, as steps (rule "Effect = step").

With the database as carrier a step is a row of the work table, written by the commit that records the effect. With a broker
the ticket is sent after the commit; the sweeper sends tickets again that no node took.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct, msgpack

from holdfast.execution.plan import Node as PlanNode, Plan
from holdfast.model.ticket import Ticket
from holdfast.model.work import EffectRow, WorkKind, WorkRow
from holdfast.ports import StepDispatcher, Transport

INLINE = "inline"
"""Stands for "not on a queue" where the name of a queue is expected."""
STEP_QUEUE = "step:"
"""Prefix of a queue's name: its steps on the work table, apart from other work of that queue."""
RESEND_AFTER = timedelta(seconds=30)
"""Pause until a step that no node took is sent again; each further pause is twice as long."""
RESEND_PAUSE_MAX = timedelta(minutes=30)


class Placement(Struct, frozen=True, kw_only=True):
    default: str = INLINE
    """The queue of effects that name none themselves."""
    dispatcher: StepDispatcher | None = None
    """The carrier of steps; None: the work table."""
    transport: Transport | None = None
    """The source of tickets; None: the work table."""
    served: frozenset[str] = frozenset()
    """The queues that this node serves."""

    @property
    def rows(self) -> bool:
        """Whether steps are rows of the work table."""
        return self.dispatcher is None

    def queue_of(self, node: PlanNode) -> str | None:
        """The queue that the activity or the node's default names; None is inline."""
        queue = node.options.queue or self.default
        return None if queue == INLINE else queue

    def of(self, node: PlanNode, home: str | None) -> Place:
        """The place of an effect. An inline effect of an instance that was started on a queue belongs to that queue: it
        runs here if this node serves the queue, otherwise on a node that does."""
        queue = self.queue_of(node)
        if queue is not None:
            return Place(queue, here=False)
        return _INLINE if home is None else Place(home, here=home in self.served)


class Place(NamedTuple):
    """Where an effect runs."""

    queue: str
    """Empty for no queue."""
    here: bool
    """Whether this node starts it after the commit that records it."""


_INLINE = Place("", here=True)
HELD = Place("", here=False)
"""Nowhere: an operator decides."""


class StepRef(NamedTuple):
    """The attempt that the row of a step names."""

    execution: int
    attempt: int


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(tuple[int, int]).decode


def step_priority(plan: Plan, effect: EffectRow) -> int:
    """The priority that the activity declares; 0 if the plan has no such activity any more."""
    node = plan.by_key.get(effect.activity_id)
    return 0 if node is None else node.options.priority


def step_id(instance_id: str, execution: int, attempt: int) -> str:
    return f"{instance_id}.s{execution}.{attempt}"


def step_row(effect: EffectRow, content: str, now: datetime, priority: int, *, given_back: str = "") -> WorkRow:
    """The row of an attempt: a resend makes the same row again. It is due when the effect is.

    An attempt that a node gives back gets a row of its own, with `given_back` as a part of its id: another node may still
    delete the first row, which it claimed too.
    """
    row_id = step_id(effect.instance_id, effect.execution, effect.attempt)
    return WorkRow(
        tenant=effect.tenant,
        id=f"{row_id}.{given_back}" if given_back else row_id,
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
    """The row of a step that a broker delivered too early: the work table delivers it again. Same id as `step_row`."""
    execution, attempt = ticket.execution or 0, ticket.attempt
    return WorkRow(
        tenant=tenant,
        id=step_id(str(ticket.instance_id), execution, attempt),
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


def is_stale(row: EffectRow, now: datetime) -> bool:
    """Whether a step has waited so long that its ticket may be lost."""
    return bool(row.queue) and row.created + RESEND_AFTER <= now


def resend_pause(previous: timedelta) -> timedelta:
    """The pause until the next resend of a step, after the previous pause; zero before the first resend."""
    return min(max(previous * 2, RESEND_AFTER), RESEND_PAUSE_MAX)
