"""Journal policy: decides which values the journal may keep. Applied after a burst, so that bursts do not pay for it.

An activity's rule takes precedence over the definition's rule, and that over the engine's. `include` keeps values,
`exclude` keeps events without values, `off` keeps only faults. Rules can also name single inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.model.definition import ActivityNode
from holdfast.model.instance import JournalEvent
from holdfast.model.policy import JournalRule

if TYPE_CHECKING:
    from holdfast.execution.journal import RawEntry

INCLUDE, EXCLUDE, OFF = "include", "exclude", "off"

BARE_INPUTS: Mapping[str, str] = {"WriteLine": "text", "SetVariable": "value"}
"""Activity types whose entry is the value of one input without a name: they are the most frequent activities."""

_FACTS = frozenset({"answer", "attempt", "bookmark", "due", "for", "name", "outcome", "outcomes", "reason", "type"})
"""Keys of an entry that are not user values."""
_NAMES_ARE_VALUES = frozenset({JournalEvent.COMPLETED, JournalEvent.PUBLISHED})
"""Events whose `name` is a value: of SetName, and the name of a published event. Other names are those of bookmarks."""
_FAULTS = frozenset({JournalEvent.FAULTED, JournalEvent.INCIDENT, JournalEvent.RETRY_SCHEDULED})


class NodeRule(Struct, frozen=True, kw_only=True):
    """The journal rule of one activity, with all defaults applied."""

    default: str
    inputs: Mapping[str, str] = {}
    outputs: Mapping[str, str] = {}
    bare: str | None = None
    """Name of the input that an entry without names is the value of."""


def rule_of(node: ActivityNode, of_definition: str | None, of_engine: str) -> NodeRule | None:
    """Journal rule of an activity; None keeps everything."""
    own = node.options.journal or JournalRule()
    default = own.default or of_definition or of_engine
    if default == INCLUDE and all(mode == INCLUDE for mode in (*own.inputs.values(), *own.outputs.values())):
        return None
    return NodeRule(default=default, inputs=own.inputs, outputs=own.outputs, bare=BARE_INPUTS.get(node.type))


def permitted(rules: Mapping[int, NodeRule], entries: Iterable[RawEntry]) -> list[RawEntry]:
    """Entries reduced to the permitted data."""
    if not rules:
        return list(entries)
    found = []
    for entry in entries:
        rule = rules.get(entry[1])
        if rule is None:
            found.append(entry)
        elif rule.default != OFF or entry[0] in _FAULTS:
            found.append((*entry[:4], _reduced(entry[0], entry[4], rule)))
    return found


def _reduced(event: str, data: Any, rule: NodeRule) -> Any:
    if not isinstance(data, dict):
        if rule.bare is not None and event == JournalEvent.COMPLETED:
            return data if _may(rule.bare, rule.inputs, rule) else None
        return data if rule.default == INCLUDE else None
    kept = {}
    for key, value in data.items():
        if key == "inputs" and isinstance(value, dict):
            inputs = {name: item for name, item in value.items() if _may(name, rule.inputs, rule)}
            if inputs:
                kept[key] = inputs
        elif _is_kept(event, key, rule):
            kept[key] = value
    return kept or None


def _is_kept(event: str, key: str, rule: NodeRule) -> bool:
    name = _input_of(event, key)
    if name in rule.inputs and name not in rule.outputs:  # The activity repeats an input in its entry.
        return rule.inputs[name] == INCLUDE
    is_value = key == "name" and event in _NAMES_ARE_VALUES
    return (key in _FACTS and not is_value) or _may(name if is_value else key, rule.outputs, rule)


def _input_of(event: str, key: str) -> str:
    """The input whose value an entry may repeat under this key."""
    if event == JournalEvent.PUBLISHED and key == "name":
        return "event_name"
    return "condition" if key in ("answer", "saw") else key


def _may(name: str, named: Mapping[str, str], rule: NodeRule) -> bool:
    return named.get(name, rule.default) == INCLUDE
