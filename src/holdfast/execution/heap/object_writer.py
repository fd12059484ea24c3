"""Object writer: converts objects to JSON. A first pass counts shared objects, a second pass writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import datetime, time
from enum import Enum
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from holdfast.errors import ValueRefused
from holdfast.execution.heap.blocks import Blocks
from holdfast.execution.heap.cells import may_link
from holdfast.execution.heap.item_codec import CELL, Cells, ItemCodec, NotTracked, is_long_text
from holdfast.execution.heap.iterators import decompose
from holdfast.execution.heap.reader import read_object
from holdfast.execution.heap.tracebacks import entries_of
from holdfast.model.module_names import portable_name
from holdfast.model.values import SCALARS, KeptException, TypeRegistry, encode, is_large
from holdfast.model.values.encoder import TAG
from holdfast.model.values.exceptions import arguments_of
from holdfast.model.values.forms import form_of

Part = tuple[str, dict[str, Any], list[Any]]
"""Tag, plain JSON data, and the contained values."""

_UNMARKED = (Enum, datetime, time)
"""Types without identity: written at each occurrence instead of once."""
_NO_CELLS = Cells()
_METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)


class UnstorableValue(ValueError):
    """A value that cannot be stored."""


MAX_DEPTH = 150
"""Maximum nesting of objects. The reader needs four calls per level and must not exhaust the stack. Items of a list do
not count; a chain of records does.
"""


class TooDeep(Exception):
    def __init__(self, frame: int = -1, name: str = "") -> None:
        super().__init__(name)
        self.frame, self.name = frame, name


class ObjectWriter:
    def __init__(
        self,
        types: TypeRegistry,
        references: Mapping[str, Any],
        *,
        trusting: bool,
        objects_in_blocks: bool = True,
        number_keys: bool = False,
        cells: Cells | None = None,
        cell: Any = None,
    ) -> None:
        """`cells`: write links to these objects, except to `cell`, whose content is written."""
        self.types = types
        self.objects_in_blocks = objects_in_blocks
        self.blocks = Blocks(types, trusting=trusting, number_keys=number_keys)
        self.references = {id(found): name for name, found in references.items()}
        self.modules = {name: found for name, found in references.items() if isinstance(found, ModuleType)}
        self.cells = cells or _NO_CELLS
        self.cell = cell
        self.links: set[int] = set()
        """Cells that were linked to."""
        self.counts: dict[int, int] = {}
        self.parts: dict[int, Part] = {}
        self.alive: list[Any] = []
        """Keeps inspected temporaries alive: a new object could otherwise get the id() of a freed one."""
        self.numbers: dict[int, int] = {}
        self.open: set[int] = set()
        """Large lists being inspected."""
        self.refused: dict[int, Any] = {}
        """Values that are not blocks. Remembered, because lists that share lists would be tried once per path."""
        self.decomposed: dict[int, Part] = {}
        """Decomposed values. Cached, because an iterator yields a new list each time, and a cyclic one would never end.
        """
        self.being_written: set[int] = set()
        """Shared objects whose parts are being written."""
        self.has_loops = False
        self.depth = 0

    # -- count ---------------------------------------------------------------------------------------------------------

    def count_in(self, value: Any) -> str | None:
        """Count the objects in a value. Returns the reason if it cannot be stored; nothing of it is counted then."""
        met = _Walk()
        try:
            self._walk([value], met)
        except (UnstorableValue, ValueRefused) as error:
            self.open.clear()
            return str(error)
        met.add_to(self.counts, self.parts)
        return None

    def _walk(self, todo: list[Any], met: _Walk) -> None:
        counts = met.counts
        while todo:
            item = todo.pop()
            if item.__class__ in SCALARS:
                if is_long_text(item):
                    self.blocks.take_text(item)
                continue
            if item in self.blocks:
                continue
            key = id(item)
            if key in self.cells.numbers and item is not self.cell:
                self.links.add(self.cells.numbers[key])
                continue
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > 1 or key in self.counts or key in self.open:
                continue
            may_be_block = is_large(item) and key not in self.refused
            if not may_be_block:
                self._look_into(item, met, todo)
            if isinstance(item, _UNMARKED) or (may_be_block and self._is_block(item, met)):
                del counts[key]

    def parts_of(self, item: Any) -> Part:
        """The decomposed value. Raises `UnstorableValue` or `ValueRefused`."""
        part = self.decomposed.get(id(item))
        if part is None:
            self.alive.append(item)
            part = self.decomposed[id(item)] = self._decompose(item)
            self.alive.append(part)
        return part

    def refused_values(self) -> Iterable[Any]:
        """Large values that are not blocks."""
        return self.refused.values()

    def _look_into(self, item: Any, met: _Walk, todo: list[Any]) -> None:
        part = met.parts[id(item)] = self.parts_of(item)
        todo.extend(part[2])

    def _is_block(self, item: Any, met: _Walk) -> bool:
        """Whether the value became a block. If not, everything in it has been counted."""
        if self.blocks.take_plain(item):
            return True
        inside, todo = _Walk(), list[Any]()
        self.open.add(id(item))
        self._look_into(item, met, todo)
        self._walk(todo, inside)
        self.open.discard(id(item))
        is_whole = (
            self.objects_in_blocks
            and item.__class__ is list
            and self.open.isdisjoint(inside.counts)
            and id(item) not in inside.counts
        )
        if is_whole and inside.counts.keys().isdisjoint(self.counts) and self.blocks.take_objects(item, inside.counts):
            inside.add_to(self.counts, self.parts)
            return True
        inside.add_to(met.counts, met.parts)
        self.refused[id(item)] = item
        return False

    def _decompose(self, value: Any) -> Part:
        cls = value.__class__
        if cls is list or cls is tuple or cls is set or cls is frozenset:
            return cls.__name__, {}, list(value)
        if cls is dict:
            return "dict", {}, [item for pair in value.items() for item in pair]
        name = self.references.get(id(value))
        if name is not None:
            return "reference", {"of": name}, []
        if isinstance(value, Enum):
            return "leaf", {"v": encode(value, self.types)}, []
        if isinstance(value, BaseException):
            return self._exception(value)
        if cls is range or cls is slice:
            return cls.__name__, {}, [value.start, value.stop, value.step]
        if cls is complex:
            return "complex", {"v": [value.real, value.imag]}, []
        return self._object(value, cls)

    def _object(self, value: Any, cls: type) -> Part:
        try:
            position = decompose(value)
        except ValueError as error:
            raise UnstorableValue(str(error)) from error
        if position is not None:
            return "iterator", {"maker": position.maker}, [position.parts, position.at]
        if isinstance(value, _METHODS) and not isinstance(value.__self__, ModuleType | type(None)):
            if getattr(value.__self__, value.__name__, None) != value:
                raise UnstorableValue(f"the method {value.__name__} is not an attribute of its object")
            return "method", {"name": value.__name__}, [value.__self__]
        if isinstance(value, FunctionType | BuiltinFunctionType | ModuleType | type):
            name = self._in_module(value)
            if name is not None:
                return "reference", {"of": name}, []
            raise UnstorableValue(
                f"{getattr(value, '__qualname__', value)} is not a value, and the workflow does not refer to it. "
                "Store a name or plain data, or define the function at module level and use it directly."
            )
        form = form_of(cls)
        if form is None:
            return "leaf", {"v": encode(value, self.types)}, []
        if cls not in self.types:
            raise UnstorableValue(
                f"the class {cls.__qualname__} is not registered: Holdfast(types=[{cls.__qualname__}])"
            )
        parts = form.apart(value)
        tag = "data" if dataclasses.is_dataclass(cls) else "object"
        return tag, {"of": self.types.name_of(cls), "names": list(parts)}, list(parts.values())

    def _in_module(self, value: Any) -> str | None:
        """Name of a function or class in a module that the definition refers to."""
        module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if not isinstance(module, str) or (name := portable_name(module)) not in self.modules:
            return None
        return f"{name}:{path}" if getattr(self.modules[name], path, None) is value else None

    def _exception(self, error: BaseException) -> Part:
        if isinstance(error, KeptException) or type(error) not in self.types:
            return "leaf", {"v": encode(error, self.types)}, []
        head = {
            "of": self.types.name_of(type(error)),
            "suppress": error.__suppress_context__,
            "lines": entries_of(error.__traceback__),
            "attributes": list(vars(error)),
        }
        args = arguments_of(error)
        return "error", {**head, "args": len(args)}, [error.__cause__, error.__context__, *args, *vars(error).values()]

    # -- write ---------------------------------------------------------------------------------------------------------

    def emit(self, value: Any) -> Any:
        if value.__class__ in SCALARS:
            is_block = is_long_text(value) and value in self.blocks
            return self.blocks.address(value) if is_block else encode(value, self.types)
        if value in self.blocks:
            return self.blocks.address(value)
        key = id(value)
        if key in self.cells.numbers and value is not self.cell:
            return {TAG: CELL, "id": self.cells.numbers[key]}
        number = self.numbers.get(key)
        if number is not None:
            self.has_loops = self.has_loops or key in self.being_written
            return {TAG: "same", "id": number}
        if self.counts.get(key, 1) == 1:
            return self._emit(value, {})
        self.numbers[key] = len(self.numbers) + 1
        self.being_written.add(key)
        found = self._emit(value, {"id": self.numbers[key]})
        self.being_written.discard(key)
        return found

    def emit_item(self, item: Any) -> Any:
        """An item of a block, written at its place."""
        return encode(item, self.types) if item.__class__ in SCALARS else self._emit(item, {})

    def _emit(self, value: Any, shared: dict[str, int]) -> Any:
        if self.depth >= MAX_DEPTH:
            raise TooDeep
        self.depth += 1
        found = self._written(value, shared)
        self.depth -= 1
        return found

    def _written(self, value: Any, shared: dict[str, int]) -> Any:
        tag, head, inside = self.parts[id(value)]
        if not shared:
            if tag == "leaf":
                return head["v"]
            if tag == "list":
                return [self.emit(item) for item in inside]
            if tag == "dict" and all(name.__class__ is str and name[:1] != "$" for name in value):
                return {name: self.emit(item) for name, item in value.items()}
        if tag == "error":  # arguments first, because they are read first
            before, rest = inside[:2], [self.emit(item) for item in inside[2:]]
            return {TAG: tag, **shared, **head, "in": [*[self.emit(item) for item in before], *rest]}
        return {TAG: tag, **shared, **head, "in": [self.emit(item) for item in inside]}


class _Walk:
    """Objects found by one walk."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.parts: dict[int, Part] = {}

    def add_to(self, counts: dict[int, int], parts: dict[int, Part]) -> None:
        for key, times in self.counts.items():
            counts[key] = counts.get(key, 0) + times
        parts.update(self.parts)


def object_codec(types: TypeRegistry, references: Mapping[str, Any]) -> ItemCodec:
    """Codec of the items of blocks, one by one."""

    def write(item: Any, cells: Cells, is_cell: bool) -> tuple[Any, set[int], frozenset[int]]:
        cell = item if is_cell else None
        writer = ObjectWriter(types, references, trusting=False, objects_in_blocks=False, cells=cells, cell=cell)
        if writer.count_in(item) is not None or writer.blocks or any(times > 1 for times in writer.counts.values()):
            raise NotTracked
        if writer.links and not all(may_link(part, cells.numbers) for part in writer.parts.values()):
            raise NotTracked
        try:
            return writer.emit_item(item), set(writer.counts) - {id(cell)}, frozenset(writer.links)
        except TooDeep:
            raise NotTracked from None

    return ItemCodec(types, write, lambda data, cells: read_object(data, types, references, cells))
