"""Scopes: the variables of an instance during a burst.

A scope is a plain list: `[parent, shape, value, value, …]`. Element 0 is the enclosing scope, or the `InstanceFacts` of the
instance for the outermost scope. Element 1 is the `Shape` that names the values. Compiled expressions access a variable by
position (`S[0][0][3]`), which costs one index per level; dynamic languages use `find`. Measured: a list index is four times
faster than an attribute of a slotted object and ten times faster than a dict of dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from holdfast.model.values import copy

Scope = list[Any]

FIRST_SLOT = 2
"""Index of the first value in a scope."""


class InstanceFacts(Protocol):
    """Instance data that expressions can read; they can change the correlation id and the name."""

    @property
    def id(self) -> str: ...
    @property
    def definition_id(self) -> str: ...
    @property
    def definition_version(self) -> int: ...
    @property
    def definition_version_id(self) -> str: ...
    @property
    def parent_id(self) -> str | None: ...

    correlation_id: str | None
    name: str | None

    def output_of(self, activity: str, output: str | None) -> Any:
        """The latest output of the activity (by id or name). None selects its only output or `result`.

        Raises `LookupError` if the definition has no such activity."""

    @property
    def last_result(self) -> Any: ...


class Shape:
    """Names of the values in a scope: variables, and for the scope of a workflow also its inputs and outputs."""

    __slots__ = (
        "boundary",
        "checks",
        "defaults",
        "exposed",
        "ids",
        "inputs",
        "key",
        "labels",
        "mutable",
        "names",
        "outputs",
        "places",
        "size",
        "transient",
        "types",
    )

    def __init__(self, key: str, *, boundary: bool = False) -> None:
        self.key = key
        """Names the shape in stored states: the activity's key, plus `#port` for variables passed to a child."""
        self.boundary = boundary
        """Scope of a workflow: static languages do not see names outside it."""
        self.labels: list[tuple[str, int]] = []
        """Storage key of each value; computed on first use."""
        self.places: dict[str, int] = {}
        """Inverse of `labels`."""
        self.names: dict[str, int] = {}
        self.ids: dict[str, int] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.types: list[str] = []
        self.checks: dict[int, Callable[[Any], Any]] = {}
        """By slot: returns a value converted to the type of the slot, or raises. Slots of the type `any` have none."""
        self.defaults: list[Any] = []
        self.transient: set[int] = set()
        """Slots that are reset to their default when the instance waits (storage `memory`)."""
        self.mutable = False
        """Whether some default must be copied for each scope."""
        self.size = FIRST_SLOT
        self.exposed = False
        """Whether a text of a static language reads a variable by its position."""

    def add(self, table: dict[str, int], name: str, type_name: str, default: Any) -> int:
        index = table[name] = self.size
        self.types.append(type_name)
        self.defaults.append(default)
        self.mutable = self.mutable or isinstance(default, list | dict | set)
        self.size += 1
        return index

    def open(self, parent: Any) -> Scope:
        """A new scope of this shape with default values."""
        scope = [parent, self, *self.defaults]
        if self.mutable:
            self.own(scope)
        return scope

    def own(self, scope: Scope) -> None:
        """Replace shared mutable defaults by copies."""
        for index, default in enumerate(self.defaults, FIRST_SLOT):
            # `list.__getitem__` does not load lazy values.
            if isinstance(default, list | dict | set) and list.__getitem__(scope, index) is default:
                scope[index] = copy(default)


def typed(scope: Scope, index: int, value: Any) -> Any:
    """The value, converted to the type of a slot of this scope. Raises `WrongType`."""
    check = scope[1].checks.get(index)
    return value if check is None else check(value)


def write(scope: Scope, index: int, value: Any) -> None:
    """Set a value of this scope, converted to the type of its slot. Raises `WrongType`."""
    scope[index] = typed(scope, index, value)


def levels(scope: Scope) -> Iterator[Scope]:
    """The scope and its enclosing scopes, innermost first."""
    level: Any = scope
    while isinstance(level, list):
        yield level
        level = level[0]


def facts_of(scope: Scope) -> InstanceFacts:
    level: Any = scope
    while isinstance(level, list):
        level = level[0]
    facts: InstanceFacts = level
    return facts


def find(scope: Scope, name: str) -> tuple[Scope, int] | None:
    """The nearest variable of that name: its scope and its index there."""
    for level in levels(scope):
        index = level[1].names.get(name)
        if index is not None:
            if level.__class__ is not list and (expose := getattr(level, "expose", None)) is not None:
                expose(index)
            return level, index
    return None


def find_input(scope: Scope, name: str) -> tuple[Scope, int] | None:
    """The nearest workflow input of that name."""
    for level in levels(scope):
        index = level[1].inputs.get(name)
        if index is not None:
            return level, index
    return None


class Names:
    """Names that a static language can use at one position in a definition: shapes from the inside out."""

    __slots__ = ("shapes",)

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self.shapes = shapes

    def variable(self, name: str) -> tuple[int, int] | None:
        """(levels up, index) of the variable, or of the workflow input if no variable has that name."""
        for hops, shape in enumerate(self.shapes):
            index = shape.names.get(name)
            if index is None and shape.boundary:
                index = shape.inputs.get(name)
            if index is not None:
                shape.exposed = True
                return hops, index
            if shape.boundary:
                return None
        return None

    def input(self, name: str) -> tuple[int, int] | None:
        for hops, shape in enumerate(self.shapes):
            if name in shape.inputs:
                return hops, shape.inputs[name]
        return None

    def target(self, name: str) -> tuple[int, int] | None:
        """(levels up, index) of the target of an output binding: a variable by id or name, else a workflow output."""
        for hops, shape in enumerate(self.shapes):
            for table in (shape.ids, shape.names, shape.outputs):
                if name in table:
                    return hops, table[name]
            if shape.boundary:
                return None
        return None

    @property
    def depth(self) -> int:
        """Number of levels up to the facts of the instance."""
        return len(self.shapes)

    def visible(self) -> list[str]:
        """Every name that `variable` finds, nearest first, for error messages."""
        found: dict[str, None] = {}
        for shape in self.shapes:
            found.update(dict.fromkeys(shape.names))
            if shape.boundary:
                found.update(dict.fromkeys(shape.inputs))
                break
        return list(found)
