"""Shapes of a diagram: nested boxes, and arrows between siblings.

The diagram of a compiled function shows the statements of its author, about one box per two lines. Helper activities of an
await (`folded`), sequences of statements and branches around calls have no boxes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.definition import ActivityNode, Definition, PortEntry
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.graph import children_of, flow_graph

__all__ = ["Arrow", "Box", "sketch"]

Descriptors = Mapping[str, ActivityDescriptor]

_LONGEST_TEXT = 40


@dataclass(frozen=True, slots=True)
class Arrow:
    source: str
    target: str
    label: str = ""
    backward: bool = False


@dataclass(slots=True)
class Box:
    key: str
    """Unique in the diagram; letters and digits only."""
    title: str
    subtitle: str = ""
    style: str = "plain"
    """`plain`, `start`, `end`, `trigger`, `unknown` or, for a port of an activity, `port`."""
    children: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)

    def walk(self) -> Iterator[Box]:
        yield self
        for child in self.children:
            yield from child.walk()


def sketch(definition: Definition, descriptors: Descriptors | None = None) -> Box:
    return _Sketcher(descriptors).activity(definition.root)


class _Sketcher:
    def __init__(self, descriptors: Descriptors | None) -> None:
        self._descriptors = descriptors
        self._count = 0

    def _box(self, title: str, subtitle: str = "", style: str = "plain") -> Box:
        self._count += 1
        return Box(f"n{self._count}", _short(title), _short(subtitle), style)

    def activity(self, node: ActivityNode) -> Box:
        descriptor = (self._descriptors or {}).get(node.type)
        kind = (descriptor.display_name if descriptor else None) or node.type
        title = str(node.metadata.get("title") or node.name or node.id)
        box = self._box(title, kind if kind != title else "", self._style(node, descriptor))
        if _is_code(node):
            self._add_code(box, node)
            return box
        for port, children in node.ports.items():
            if port == "activities" and all(isinstance(child, ActivityNode) for child in children):
                self._add_activities(box, node)
            else:
                box.children.extend(self._port(port, children))
        return box

    def _style(self, node: ActivityNode, descriptor: ActivityDescriptor | None) -> str:
        if descriptor is None:
            return "unknown" if self._descriptors is not None else "plain"
        if descriptor.trigger and node.options.can_start:
            return "trigger"
        return "start" if descriptor.start else "end" if descriptor.terminal else "plain"

    def _add_activities(self, box: Box, node: ActivityNode) -> None:
        boxes = {child.id: self.activity(child) for child in children_of(node)}
        box.children.extend(boxes.values())
        if node.connections:
            graph = flow_graph(node, descriptors=self._descriptors)
            for index, connection in enumerate(node.connections):
                if connection.source in boxes and connection.target in boxes:
                    ends = boxes[connection.source].key, boxes[connection.target].key
                    box.arrows.append(Arrow(*ends, _short(connection.outcome or ""), index in graph.backward))
        elif node.type.rpartition(".")[2] == "Sequence":
            following = list(boxes.values())
            box.arrows.extend(Arrow(one.key, other.key) for one, other in itertools.pairwise(following))

    # -- compiled functions --------------------------------------------------------------------------------------------

    def _add_code(self, box: Box, node: ActivityNode) -> None:
        """Statements of the main part are children of the box itself; other parts get a box with their name."""
        parts = [(name, boxes) for name, part in _parts(node) if (boxes := self._statements(part))]
        for name, boxes in parts:
            if name in _MAIN and (len(parts) == 1 or name == "body"):
                inside = box
            elif len(boxes) == 1 and not boxes[0].children:
                boxes[0].title = _short(f"{name}: {boxes[0].title}")
                box.children.append(boxes[0])
                continue
            else:
                box.children.append(inside := self._box(name, style="port"))
            inside.children.extend(boxes)
            if name not in _AT_ONCE:
                inside.arrows.extend(Arrow(one.key, other.key) for one, other in itertools.pairwise(boxes))

    def _statements(self, nodes: Iterable[ActivityNode]) -> list[Box]:
        """One box per statement: `return await charge(order)` is one box, but two activities."""
        found: list[Box] = []
        before: tuple[Any, str] = None, ""
        for node in _flat(nodes):
            box, here = self.activity(node), (node.metadata.get("line"), node.type)
            ends = node.type in _ENDINGS and here[0] == before[0] and before[1] not in _ENDINGS
            if ends and (not found[-1].children or before[1] in _CALLS):
                found[-1].title, found[-1].style = box.title, box.style
            else:
                found.append(box)
            before = here
        return found

    def _port(self, name: str, children: object) -> Iterator[Box]:
        """One box for the port with its children; for entries one box each."""
        if isinstance(children, ActivityNode):
            box = self._box(name, style="port")
            box.children.append(self.activity(children))
            yield box
            return
        items = children if isinstance(children, tuple) else ()
        if any(isinstance(item, ActivityNode) for item in items):
            box = self._box(name, style="port")
            box.children.extend(self.activity(item) for item in items if isinstance(item, ActivityNode))
            yield box
        for index, item in enumerate(items):
            if isinstance(item, PortEntry) and item.activities:
                box = self._box(_entry_title(name, index, item), style="port")
                for port, child in item.activities.items():
                    box.children.extend(
                        [self.activity(child)] if len(item.activities) == 1 else self._port(port, child)
                    )
                yield box


_ENDINGS = ("Code", "Return")
_CALLS = ("Gather", "First", "Function")
_JUMPS = ("Break", "Continue")
_MAIN = ("body", "then", "branches")
_AT_ONCE = ("branches",)


def _is_code(node: ActivityNode) -> bool:
    """Whether it was compiled from a line of a function."""
    return "line" in node.metadata


def _flat(nodes: Iterable[ActivityNode]) -> Iterator[ActivityNode]:
    for node in nodes:
        if node.metadata.get("folded") or node.type in _JUMPS:
            continue
        if node.type == "Branch" or (node.type == "Sequence" and _is_code(node)):
            yield from _flat(node.children())
        else:
            yield node


def _parts(node: ActivityNode) -> Iterator[tuple[str, tuple[ActivityNode, ...]]]:
    for port, children in node.ports.items():
        if isinstance(children, ActivityNode):
            yield port.strip("_"), (children,)
            continue
        for index, item in enumerate(children):
            if isinstance(item, PortEntry):
                yield _entry_title(port, index, item), tuple(item.activities.values())
        own = tuple(item for item in children if isinstance(item, ActivityNode))
        if own:
            yield port, own


def _entry_title(port: str, index: int, entry: PortEntry) -> str:
    for key in ("label", "name"):
        if isinstance(entry.data.get(key), str):
            return f"{port}: {entry.data[key]}"
    return f"{port} {index + 1}"


def _short(text: str) -> str:
    """Shortened to one printable line."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…"
