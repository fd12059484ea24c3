"""Journal of a burst: entries are small tuples `(event, node index, execution id, nanoseconds, data)`.

Values are captured when the entry is made (rule M19): small immutable values by reference, all others by `preview`. A
later change of an object therefore never changes the journal. Readers get `JournalEntry` objects.
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
"""Frequent events as plain text: the garbage collector does not track tuples that hold only atoms."""

TINY = frozenset({NoneType, bool, int, float})
"""Small immutable types, stored as they are."""

DECISION_BYTES = 128
OUTPUT_BYTES = 1024


def captured(value: Any) -> Any:
    """Copy of a value for the journal."""
    if value.__class__ in TINY or (value.__class__ is str and len(value) <= OUTPUT_BYTES and value.isascii()):
        return value
    return preview(value, OUTPUT_BYTES)


MASK = "••••••"


def masked(node: Node, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs for the journal and for incidents, with secrets masked."""
    secrets = node.secrets
    return {
        name: MASK if name in secrets else value if value.__class__ in TINY else captured(value)
        for name, value in inputs.items()
    }


def seen(expression: CompiledExpression, scope: Scope) -> dict[str, Any]:
    """Values that a condition depended on."""
    values = {}
    for name, read in expression.reads:
        value = read(scope)
        small = value.__class__ in TINY or (value.__class__ is str and len(value) <= DECISION_BYTES and value.isascii())
        values[name] = value if small else preview(value, DECISION_BYTES)
    return values


def readable(plan: Plan, entries: Iterable[RawEntry], first: int) -> list[JournalEntry]:
    """Convert raw entries to `JournalEntry` objects."""
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
