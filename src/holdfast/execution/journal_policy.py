"""Journal policy: decides which values the journal may keep. Applied after a burst, so that bursts do not pay for it.

An activity's rule takes precedence over the definition's rule, and that over the engine's. `include` keeps values,
`exclude` keeps events without values, `off` keeps only faults. Rules can also name single inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.model.definition import ActivityNode
from holdfast.model.instance import JournalEvent
from holdfast.model.policy import JournalRule

if TYPE_CHECKING:
    from holdfast.execution.journal import RawEntry

INCLUDE, EXCLUDE, OFF = "include", "exclude", "off"

_FACTS = frozenset({"answer", "attempt", "bookmark", "due", "for", "name", "outcome", "outcomes", "reason", "type"})
"""Keys of an entry that are not user values."""
_FAULTS = frozenset({JournalEvent.FAULTED, JournalEvent.INCIDENT, JournalEvent.RETRY_SCHEDULED})


def rule_of(node: ActivityNode, of_definition: str | None, of_engine: str) -> JournalRule | None:
    """Journal rule of an activity; None keeps everything."""
    own = node.options.journal or JournalRule()
    default = own.default or of_definition or of_engine
    named = {**own.inputs, **own.outputs}
    if default == INCLUDE and EXCLUDE not in named.values():
        return None
    return JournalRule(default=default, inputs=own.inputs, outputs=own.outputs)


def permitted(rules: Mapping[int, JournalRule], entries: Iterable[RawEntry]) -> list[RawEntry]:
    """Entries reduced to the permitted data."""
    if not rules:
        return list(entries)
    found = []
    for entry in entries:
        rule = rules.get(entry[1])
        if rule is None:
            found.append(entry)
        elif rule.default != OFF or entry[0] in _FAULTS:
            found.append((*entry[:4], _reduced(entry[4], rule)))
    return found


def _reduced(data: Any, rule: JournalRule) -> Any:
    if not isinstance(data, dict):
        return data if rule.default == INCLUDE else None
    kept = {}
    for key, value in data.items():
        if key == "inputs" and isinstance(value, dict):
            inputs = {name: item for name, item in value.items() if _may(name, rule.inputs, rule)}
            if inputs:
                kept[key] = inputs
        elif key in _FACTS or _may(key, rule.outputs, rule):
            kept[key] = value
    return kept or None


def _may(name: str, named: Mapping[str, str], rule: JournalRule) -> bool:
    return named.get(name, rule.default) == INCLUDE
