"""Where an instance's variables live while a burst runs.

A scope is a plain list: `[parent, shape, value, value, …]`. Element 0 is the enclosing scope (for the outermost one the
`InstanceFacts` of the instance), element 1 the `Shape` that names the values behind it. Compiled expressions reach a
variable by position (`S[0][0][3]`), which costs one index per level; languages that look names up as they run use `find`.
Measured: a list index is four times faster than an attribute of a slotted object and ten times faster than a dict of dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from holdfast.model.values import copy

Scope = list[Any]

FIRST_SLOT = 2
"""Index of the first value in a scope."""


class InstanceFacts(Protocol):
    """What expressions may know of the instance they run in, and the two things that they may change."""

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
        """The latest output that the activity (by id or name) produced; None names its only or `result` output.

        Raises `LookupError` for an activity that the definition does not have."""

    @property
    def last_result(self) -> Any: ...


class Shape:
    """The names of one scope's values: variables, and for a workflow's own scope its inputs and outputs beside them."""

    __slots__ = (
        "boundary",
        "defaults",
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
        """Names the shape in stored states: the activity's key, with `#port` for variables handed to a child."""
        self.boundary = boundary
        """A workflow's own scope: names of the workflow around it are not visible to static languages."""
        self.labels: list[tuple[str, int]] = []
        """What each value is stored under; made when it is first asked for."""
        self.places: dict[str, int] = {}
        """The same the other way round."""
        self.names: dict[str, int] = {}
        self.ids: dict[str, int] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.types: list[str] = []
        self.defaults: list[Any] = []
        self.transient: set[int] = set()
        """Slots that fall back to their default when the instance waits (storage `memory`)."""
        self.mutable = False
        """Some default must be copied for each scope."""
        self.size = FIRST_SLOT

    def add(self, table: dict[str, int], name: str, type_name: str, default: Any) -> int:
        index = table[name] = self.size
        self.types.append(type_name)
        self.defaults.append(default)
        self.mutable = self.mutable or isinstance(default, list | dict | set)
        self.size += 1
        return index

    def open(self, parent: Any) -> Scope:
        """A new scope of this shape, at its defaults."""
        scope = [parent, self, *self.defaults]
        if self.mutable:
            self.own(scope)
        return scope

    def own(self, scope: Scope) -> None:
        """Give it defaults of its own where it has those of all."""
        for index, default in enumerate(self.defaults, FIRST_SLOT):
            # `list.__getitem__` wakes nothing that rests (`execution.resting`).
            if isinstance(default, list | dict | set) and list.__getitem__(scope, index) is default:
                scope[index] = copy(default)


def levels(scope: Scope) -> Iterator[Scope]:
    """The scope and those around it, nearest first."""
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
    """The nearest variable of that name: the scope that holds it and its index there."""
    for level in levels(scope):
        index = level[1].names.get(name)
        if index is not None:
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
    """What a static language may call what at one place of a definition: shapes from the inside out."""

    __slots__ = ("shapes",)

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self.shapes = shapes

    def variable(self, name: str) -> tuple[int, int] | None:
        """(levels up, index) of the variable, or of a workflow input if no variable has that name."""
        for hops, shape in enumerate(self.shapes):
            index = shape.names.get(name)
            if index is None and shape.boundary:
                index = shape.inputs.get(name)
            if index is not None:
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
        """Where an output binding goes: a variable by id or name, else an output of the workflow."""
        for hops, shape in enumerate(self.shapes):
            for table in (shape.ids, shape.names, shape.outputs):
                if name in table:
                    return hops, table[name]
            if shape.boundary:
                return None
        return None

    @property
    def depth(self) -> int:
        """How many levels up the instance's facts stand."""
        return len(self.shapes)

    def visible(self) -> list[str]:
        """Every name that `variable` finds, nearest first (for messages)."""
        found: dict[str, None] = {}
        for shape in self.shapes:
            found.update(dict.fromkeys(shape.names))
            if shape.boundary:
                found.update(dict.fromkeys(shape.inputs))
                break
        return list(found)
