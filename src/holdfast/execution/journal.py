"""What happened and why, as small tuples while a burst runs: `(event, node index, execution id, nanoseconds, data)`.

Values are captured when the entry is made (rule M19): small immutable ones by reference, everything else by `preview`, so
that a later change of an object never rewrites history. Entries become `JournalEntry` objects when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any

from holdfast.execution.journal_policy import permitted
from holdfast.model.instance import JournalEntry, JournalEvent, moment
from holdfast.model.values import preview

if TYPE_CHECKING:
    from holdfast.execution.plan import Node, Plan
    from holdfast.model.scope import Scope
    from holdfast.ports import CompiledExpression

RawEntry = tuple[str, int, int, int, Any]

STARTED = JournalEvent.STARTED.value
COMPLETED = JournalEvent.COMPLETED.value
DECIDED = JournalEvent.DECIDED.value
WAITING = JournalEvent.WAITING.value
"""The busiest events as plain text: an entry that holds nothing but atoms is none of the garbage collector's business."""

TINY = frozenset({NoneType, bool, int, float})
"""Kept as they are: immutable and small."""

DECISION_BYTES = 128
OUTPUT_BYTES = 1024


def kept(value: Any) -> Any:
    """A value as the journal keeps it."""
    if value.__class__ in TINY or (value.__class__ is str and len(value) <= OUTPUT_BYTES and value.isascii()):
        return value
    return preview(value, OUTPUT_BYTES)


MASK = "••••••"


def masked(node: Node, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as the journal and incidents keep them: secrets never."""
    secrets = node.secrets
    return {
        name: MASK if name in secrets else value if value.__class__ in TINY else kept(value)
        for name, value in inputs.items()
    }


def seen(expression: CompiledExpression, scope: Scope) -> dict[str, Any]:
    """The values that a condition depended on."""
    values = {}
    for name, read in expression.reads:
        value = read(scope)
        small = value.__class__ in TINY or (value.__class__ is str and len(value) <= DECISION_BYTES and value.isascii())
        values[name] = value if small else preview(value, DECISION_BYTES)
    return values


def readable(plan: Plan, entries: Iterable[RawEntry], first: int) -> list[JournalEntry]:
    """Journal entries as others see them."""
    found = []
    for offset, (event, index, execution_id, at, data) in enumerate(permitted(plan.journal_rules, entries)):
        definition = plan.nodes[index].definition if index >= 0 else None
        found.append(
            JournalEntry(
                sequence=first + offset,
                event=JournalEvent(event),
                at=moment(at),
                activity_id=plan.nodes[index].key if definition else None,
                activity_type=definition.type if definition else None,
                activity_name=definition.name if definition else None,
                execution_id=execution_id or None,
                data=data,
            )
        )
    return found
