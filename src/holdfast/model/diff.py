"""Diff of two versions of a definition as data, for `holdfast diff`, the API and the Studio.

Activities are identified by id. An activity with the same content at another position is *moved*. Positions in a list are
compared only among the activities that both versions have, so that a new first step does not move all others.
Presentation (positions, titles, descriptions) is ignored, as in the content hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.model.definition import ActivityNode, Definition, PortEntry
from holdfast.model.writer import write_definition, write_node

__all__ = [
    "ActivityChange",
    "Change",
    "ConnectionChange",
    "DeclarationChange",
    "DefinitionDiff",
    "FieldChange",
    "diff_definitions",
]


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class FieldChange(Struct, frozen=True, kw_only=True):
    """One field; None for the side that does not have it."""

    path: str
    """For example `inputs.amount`, `options.retry.attempts` or `cases[0].condition`."""
    before: Any = None
    after: Any = None


class ActivityChange(Struct, frozen=True, kw_only=True):
    id: str
    type: str
    change: Change
    title: str = ""
    """Title in diagrams."""
    fields: tuple[FieldChange, ...] = ()
    """Includes the path `place` if the activity moved."""


class ConnectionChange(Struct, frozen=True, kw_only=True):
    container: str
    """The id of the flowchart."""
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    outcome: str | None = None
    change: Change
    fields: tuple[FieldChange, ...] = ()


class DeclarationChange(Struct, frozen=True, kw_only=True):
    """A variable, an input or an output."""

    name: str
    scope: str | None = None
    """The id of the container that declares a variable; None is the workflow."""
    change: Change
    fields: tuple[FieldChange, ...] = ()


class DefinitionDiff(Struct, frozen=True, kw_only=True):
    """Every tuple is in the order of the later version, followed by removed items."""

    activities: tuple[ActivityChange, ...] = ()
    connections: tuple[ConnectionChange, ...] = ()
    variables: tuple[DeclarationChange, ...] = ()
    inputs: tuple[DeclarationChange, ...] = ()
    outputs: tuple[DeclarationChange, ...] = ()
    settings: tuple[FieldChange, ...] = ()
    """Options and outcomes of the definition."""

    @property
    def is_empty(self) -> bool:
        return not any(msgspec.structs.astuple(self))


def diff_definitions(before: Definition, after: Definition) -> DefinitionDiff:
    """The changes that lead from `before` to `after`."""
    old, new = _Side(before), _Side(after)
    return DefinitionDiff(
        activities=tuple(_activities(old, new)),
        connections=tuple(_connections(old, new)),
        variables=tuple(_declarations(old.variables, new.variables)),
        inputs=tuple(_declarations(old.declared("inputs"), new.declared("inputs"))),
        outputs=tuple(_declarations(old.declared("outputs"), new.declared("outputs"))),
        settings=tuple(_fields(old.settings, new.settings)),
    )


# -- one version -------------------------------------------------------------------------------------------------------

_OF_NODE = ("type", "name", "version", "inputs", "outputs", "options")
_NOT_CONTENT = frozenset({"display_name", "description", "category", "editor"})


_TEMPORARY = re.compile(r"__\d+")
"""Names of temporaries of a compiled function. They are numbered through the function, so an edit renumbers later ones."""


def _renumbered(value: Any, numbers: dict[str, str]) -> Any:
    """The value with its temporaries numbered from 1 in order of appearance, so that only real changes differ."""
    if isinstance(value, str):
        return _NAMES.sub(lambda found: numbers.setdefault(found[0], f"__{len(numbers) + 1}"), value)
    if isinstance(value, dict):
        return {key: _renumbered(item, numbers) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_renumbered(item, numbers) for item in value]
    return value


_NAMES = re.compile(r"\b__\d+\b")


class _Side:
    """One version, indexed for the comparison."""

    def __init__(self, definition: Definition) -> None:
        self._document = write_definition(definition)
        self.nodes: dict[str, ActivityNode] = {}
        self.contents: dict[str, dict[str, Any]] = {}
        self.places: dict[str, str] = {}
        """The list that contains the activity: `container.port`."""
        self.lists: dict[str, list[str]] = {}
        self.connections: dict[tuple[str, str, str, str | None, int], dict[str, Any]] = {}
        self.variables: dict[tuple[str | None, str], dict[str, Any]] = {
            (None, item["name"]): item for item in self._document.get("variables", ())
        }
        self.settings: dict[str, Any] = {
            key: self._document[key] for key in ("options", "outcomes") if key in self._document
        }
        self._take(definition.root, "root")

    def declared(self, kind: str) -> dict[tuple[str | None, str], dict[str, Any]]:
        return {
            (None, item["name"]): {key: value for key, value in item.items() if key not in _NOT_CONTENT}
            for item in self._document.get(kind, ())
        }

    def _take(self, node: ActivityNode, place: str) -> None:
        key = node.id
        while key in self.nodes:  # Validation reports a duplicate id; the diff shows both activities.
            key += "'"
        self.nodes[key] = node
        self.places[key] = place
        self.lists.setdefault(place, []).append(key)
        written = write_node(msgspec.structs.replace(node, ports={}), with_metadata=False)
        self._take_connections(key, written.pop("connections", ()))
        for item in written.pop("variables", ()):
            if not _TEMPORARY.fullmatch(item["name"]):
                self.variables[(key, item["name"])] = item
        content = {name: written[name] for name in (*_OF_NODE, *node.extra) if name in written}
        self.contents[key] = _renumbered(content, {})
        for port, children in node.ports.items():
            if isinstance(children, ActivityNode):
                self._take(children, f"{key}.{port}")
                continue
            for index, child in enumerate(children):
                if isinstance(child, PortEntry):
                    self._take_entry(key, port, index, child)
                else:
                    self._take(child, f"{key}.{port}")

    def _take_entry(self, key: str, port: str, index: int, entry: PortEntry) -> None:
        data = write_node(ActivityNode(id="", type="", inputs=entry.data)).get("inputs", {})
        self.contents[key][f"{port}[{index}]"] = _renumbered(data, {})
        for name, child in entry.activities.items():
            self._take(child, f"{key}.{port}[{index}].{name}")

    def _take_connections(self, container: str, written: Sequence[dict[str, Any]]) -> None:
        for item in written:
            ends = container, item["from"], item["to"], item.get("outcome")
            count = sum(1 for known in self.connections if known[:4] == ends)
            rest = {key: value for key, value in item.items() if key not in ("from", "to", "outcome")}
            self.connections[(*ends, count)] = rest


# -- comparing ---------------------------------------------------------------------------------------------------------


def _activities(old: _Side, new: _Side) -> Iterator[ActivityChange]:
    moved = set(_moved(old, new))
    for key, node in new.nodes.items():
        if key not in old.nodes:
            yield ActivityChange(id=node.id, type=node.type, title=_title(node), change=Change.ADDED)
            continue
        fields = list(_fields(old.contents[key], new.contents[key]))
        change = Change.CHANGED if fields else Change.MOVED
        if key in moved:
            fields.append(FieldChange(path="place", before=_place(old, key), after=_place(new, key)))
        if fields:
            yield ActivityChange(id=node.id, type=node.type, title=_title(node), change=change, fields=tuple(fields))
    for key, node in old.nodes.items():
        if key not in new.nodes:
            yield ActivityChange(id=node.id, type=node.type, title=_title(node), change=Change.REMOVED)


def _title(node: ActivityNode) -> str:
    return str(node.metadata.get("title") or node.name or node.id)


def _moved(old: _Side, new: _Side) -> Iterator[str]:
    for place, keys in new.lists.items():
        common = [key for key in keys if old.places.get(key) == place]
        yield from (key for key in keys if key in old.places and old.places[key] != place)
        before = [key for key in old.lists.get(place, ()) if new.places.get(key) == place]
        if before != common:
            blocks = SequenceMatcher(None, before, common, autojunk=False).get_matching_blocks()
            kept = {common[index] for block in blocks for index in range(block.b, block.b + block.size)}
            yield from (key for key in common if key not in kept)


def _place(side: _Side, key: str) -> str:
    place = side.places[key]
    keys = side.lists[place]
    return place if len(keys) == 1 else f"{place}[{keys.index(key)}]"


def _connections(old: _Side, new: _Side) -> Iterator[ConnectionChange]:
    for key, rest, change, fields in _compare(old.connections, new.connections):
        del rest
        container, source, target, outcome, _ = key
        yield ConnectionChange(
            container=container, source=source, target=target, outcome=outcome, change=change, fields=fields
        )


def _declarations(
    old: Mapping[tuple[str | None, str], dict[str, Any]], new: Mapping[tuple[str | None, str], dict[str, Any]]
) -> Iterator[DeclarationChange]:
    for (scope, name), _, change, fields in _compare(old, new):
        yield DeclarationChange(name=name, scope=scope, change=change, fields=fields)


def _compare(
    old: Mapping[Any, dict[str, Any]], new: Mapping[Any, dict[str, Any]]
) -> Iterator[tuple[Any, dict[str, Any], Change, tuple[FieldChange, ...]]]:
    for key, value in new.items():
        if key not in old:
            yield key, value, Change.ADDED, ()
        elif fields := tuple(_fields(old[key], value)):
            yield key, value, Change.CHANGED, fields
    for key, value in old.items():
        if key not in new:
            yield key, value, Change.REMOVED, ()


def _fields(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[FieldChange]:
    """Field by field; expressions and lists count as single values."""
    for key in dict.fromkeys((*after, *before)):
        path = f"{prefix}{key}"
        one, other = before.get(key), after.get(key)
        if one == other and type(one) is type(other):
            continue
        if _is_record(one) and _is_record(other) and not (_is_expression(one) or _is_expression(other)):
            yield from _fields(one or {}, other or {}, f"{path}.")
        else:
            yield FieldChange(path=path, before=one, after=other)


def _is_record(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_expression(value: Any) -> bool:
    return isinstance(value, dict) and any(key.startswith("$") for key in value)
