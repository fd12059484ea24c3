"""Context of the checks: the activities of a definition with their scopes, and the problems found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol

from holdfast.model.definition import ActivityNode, Definition, Expression, PortEntry, Variable
from holdfast.model.descriptor import ActivityDescriptor, PortDescriptor
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem, Severity
from holdfast.model.schedule import Calendar
from holdfast.model.scope import Names, Shape
from holdfast.model.values import TypeRegistry

__all__ = ["Language", "Place", "Survey", "children_of", "guess"]


class Language(Protocol):
    """The part of an expression language that the validator needs."""

    def compile(self, source: Any, names: Names) -> Any: ...


@dataclass(frozen=True, slots=True)
class Place:
    """One activity and its position in the definition."""

    node: ActivityNode
    path: str
    descriptor: ActivityDescriptor | None
    names: Names
    """Names visible to its own expressions."""
    inner: Names
    """Names visible to its entries: also its variables and those that it passes to its children."""
    certain: bool
    """False inside an activity of unknown type, which may pass unknown variables to its children."""


@dataclass(slots=True)
class Survey:
    definition: Definition
    descriptors: Mapping[str, ActivityDescriptor]
    languages: Mapping[str, Language] | None
    types: TypeRegistry | None
    trusted: bool
    commit_strategies: Collection[str]
    find: Callable[[ActivityNode], ActivityDescriptor | None] | None
    calendar: Calendar
    problems: list[Problem] = field(default_factory=list)

    def error(self, path: str, code: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy))

    def warn(self, path: str, code: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy, severity=Severity.WARNING))

    def describe(self, node: ActivityNode) -> ActivityDescriptor | None:
        known = self.descriptors.get(node.type)
        return known if known is not None or self.find is None else self.find(node)

    def places(self) -> Iterator[Place]:
        """Every activity in document order, parents first."""
        outermost = Names((_workflow_shape(self.definition),))
        yield from self._places_in(self.definition.root, "/root", outermost, certain=True)

    def _places_in(self, node: ActivityNode, path: str, names: Names, *, certain: bool) -> Iterator[Place]:
        descriptor = self.describe(node)
        own = Names((_shape(path, node.variables), *names.shapes)) if node.variables else names
        passed = [name for port in descriptor.ports for name in passed_variables(port, node)] if descriptor else []
        inner = Names((_passed_shape(path, passed), *own.shapes)) if passed else own
        yield Place(node, path, descriptor, names, inner, certain)
        certain = certain and descriptor is not None
        for port, child, child_path in children_of(node, path):
            found = descriptor.port(port) if descriptor else None
            given = passed_variables(found, node) if found else ()
            here = Names((_passed_shape(child_path, given), *own.shapes)) if given else own
            yield from self._places_in(child, child_path, here, certain=certain)


def passed_variables(port: PortDescriptor, node: ActivityNode) -> tuple[str, ...]:
    """The variables that an activity passes to the children of a port, with their names in this definition."""
    name = node.inputs.get(port.named_by) if port.named_by else None
    if isinstance(name, Expression) and name.language == "literal":
        name = name.source
    return (name, *port.variables[1:]) if isinstance(name, str) and name else port.variables


def children_of(node: ActivityNode, path: str) -> Iterator[tuple[str, ActivityNode, str]]:
    """Port, activity and path of each child."""
    for port, value in node.ports.items():
        here = pointer(path, port)
        if isinstance(value, ActivityNode):
            yield port, value, here
            continue
        for index, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, ActivityNode):
                yield port, item, pointer(here, index)
            elif isinstance(item, PortEntry):
                for name, child in item.activities.items():
                    yield port, child, pointer(here, index, name)


def _workflow_shape(definition: Definition) -> Shape:
    shape = Shape("workflow", boundary=True)
    for declared in definition.inputs:
        shape.add(shape.inputs, declared.name, declared.type, declared.default)
    _declare(shape, definition.variables)
    for output in definition.outputs:
        shape.add(shape.outputs, output.name, output.type, None)
    return shape


def _shape(key: str, variables: tuple[Variable, ...]) -> Shape:
    shape = Shape(key)
    _declare(shape, variables)
    return shape


def _declare(shape: Shape, variables: tuple[Variable, ...]) -> None:
    for variable in variables:
        index = shape.add(shape.names, variable.name, variable.type, variable.default)
        if variable.id is not None:
            shape.ids[variable.id] = index


def _passed_shape(key: str, names: Collection[str]) -> Shape:
    shape = Shape(f"{key}#port")
    for name in names:
        shape.add(shape.names, name, "any", None)
    return shape


def guess(name: str, known: Collection[str]) -> str:
    """A remedy: the closest known name, or all known names."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known names: {', '.join(sorted(known))}." if known else "None is known."
