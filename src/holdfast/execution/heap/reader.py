"""Heap reader: rebuilds the variables from JSON, with shared objects shared again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from holdfast.errors import InvalidState, UnknownValueType, UnreadableValue
from holdfast.execution.heap.blocks import BLOCK, at, content_of, read_blocks
from holdfast.execution.heap.cells import read_cells
from holdfast.execution.heap.heap_book import WHOLE, Reach
from holdfast.execution.heap.item_codec import CELL, CELLS, TEXT
from holdfast.execution.heap.iterators import DictPosition, rebuild_iterator
from holdfast.execution.heap.tracebacks import rebuild
from holdfast.execution.unreadable import VariableUnreadable
from holdfast.model.values import TypeRegistry, decode
from holdfast.model.values.encoder import TAG
from holdfast.model.values.exceptions import rebuild_exception
from holdfast.model.values.forms import Form, form_of

Keep = Callable[[Any], Any]
RebuildDictIterator = Callable[[dict[Any, Any], str, int, int, int], Iterator[Any]]
"""Rebuilds the iterator of a dict from its kind, the number of consumed items, the number of items left, and the size."""


def read_heap(
    document: Mapping[str, Any], types: TypeRegistry, references: Mapping[str, Any]
) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """For each frame: its variables, and the reasons for variables that could not be stored."""
    reader = _reader_of(document, types, references)
    frames = [_frame(reader, frame) for frame in document["frames"]]
    return list(zip(frames, document["lost"], strict=True))


def _reader_of(document: Mapping[str, Any], types: TypeRegistry, references: Mapping[str, Any]) -> _Reader:
    """A reader that has read the blocks."""
    reader = _Reader(types, references)
    blocks = document.get("blocks", ())
    for block in blocks[:1]:  # the cells are first, because other blocks link to them
        if CELLS in block:
            made: dict[int, Any] = {}
            reader.cells = made
            read_cells(content_of(block[CELLS]), reader.value, into=made)
            reader.blocks.append(made)
    read_blocks(blocks[len(reader.blocks) :], types, reader.value, into=reader.blocks)
    return reader


def _frame(reader: _Reader, stored: Mapping[str, Any]) -> dict[str, Any]:
    frame: dict[str, Any] = {}
    name = ""
    try:
        for name, data in stored.items():
            frame[name] = reader.value(data)
    except Exception as error:
        raise VariableUnreadable(name, error) from error
    return frame


def read_tracked(
    document: Mapping[str, Any],
    types: TypeRegistry,
    references: Mapping[str, Any],
    blocks: list[Any],
    rebuild_dict_iterator: RebuildDictIterator,
) -> Iterator[tuple[dict[str, Any], dict[str, str], dict[str, list[Reach]]]]:
    """Like `read_heap`, with blocks that were read already, and with the items and blocks that each variable refers to.

    The block that is the value of a variable is not named: it is found by its identity.
    """
    reader = _Reader(types, references)
    reader.blocks = blocks
    reader.rebuild_dict_iterator = rebuild_dict_iterator
    together: list[Reach] = []
    """Everything that variables with shared objects refer to."""
    for frame, lost in zip(document["frames"], document["lost"], strict=True):
        found: dict[str, Any] = {}
        reaches: dict[str, list[Reach]] = {}
        for name, data in frame.items():
            reader.met, reader.met_shared = [], False
            try:
                found[name] = reader.value(data)
            except Exception as error:
                raise VariableUnreadable(name, error) from error
            if reader.met_shared:
                together += reader.met
                reaches[name] = together
            elif reader.met and not _is_block(data):
                reaches[name] = reader.met
        yield found, lost, reaches


def _is_block(data: Any) -> bool:
    """Whether the data is a whole block or its method `append`."""
    if data.__class__ is not dict:
        return False
    if data.get(TAG) == "method" and data.get("name") == "append":
        return _is_block(data["in"][0])
    return data.get(TAG) == BLOCK and "at" not in data


def read_variable(document: Mapping[str, Any], frame: int, name: str) -> Any:
    """One variable of plain values that shares nothing with others, without reading the rest of the heap."""
    types = TypeRegistry()
    data = document["frames"][frame][name]
    reader = _Reader(types, {})
    if not _is_block(data):
        for block in document.get("blocks", ()):  # the variable may contain long texts
            reader.blocks.append(content_of(block[TEXT]) if TEXT in block else None)
        return reader.value(data)
    read_blocks([document["blocks"][data["n"]]], types, reader.value, into=reader.blocks)
    return reader.blocks[0]


def read_object(
    data: Any, types: TypeRegistry, references: Mapping[str, Any], cells: Mapping[int, Any] | None = None
) -> Any:
    """An object that was written alone, and that may link to cells."""
    reader = _Reader(types, references)
    if cells is not None:
        reader.cells = cells
    return reader.value(data)


class Unread(NamedTuple):
    frame: int
    name: str


def first_unread(document: Mapping[str, Any], types: TypeRegistry, references: Mapping[str, Any]) -> Unread | None:
    """The first variable of a document that cannot be read back."""
    reader = _reader_of(document, types, references)
    for number, frame in enumerate(document["frames"]):
        for name, data in frame.items():
            try:
                reader.value(data)
            except Exception:  # noqa: BLE001 - a part is missing, or user code fails on it
                return Unread(number, name)
    return None


class _Reader:
    def __init__(self, types: TypeRegistry, references: Mapping[str, Any]) -> None:
        self.types = types
        self.references = references
        self.blocks: list[Any] = []
        self.known: dict[int, Any] = {}
        self.cells: Mapping[int, Any] = {}
        self.rebuild_dict_iterator: RebuildDictIterator = DictPosition
        self.met: list[Reach] = []
        """Blocks and items that the current variable refers to."""
        self.met_shared = False
        """The current variable shares objects with others."""

    def value(self, data: Any) -> Any:
        if data.__class__ is list:
            return [self.value(item) for item in data]
        if data.__class__ is not dict:
            return data
        tag = data.get(TAG)
        if tag is None:
            return {name: self.value(item) for name, item in data.items()}
        if tag == "same":
            self.met_shared = True
            return self.known[data["id"]]
        if tag == BLOCK:
            way = data.get("at")
            self.met.append((data["n"], way[0] if way else WHOLE))
            return at(self.blocks, data)
        if tag == CELL:
            return self.cells[data["id"]]
        read = _READERS.get(tag)
        if read is None or ("in" not in data):
            return decode(data, self.types)
        number = data.get("id")
        if number is not None:
            self.met_shared = True

        def keep(made: Any) -> Any:
            if number is not None:
                self.known[number] = made
            return made

        return read(self, data, keep)

    def inside(self, data: Mapping[str, Any]) -> list[Any]:
        return [self.value(item) for item in data["in"]]

    def find(self, name: str) -> type:
        cls = self.types.find(name)
        if cls is None:
            raise UnknownValueType(name)
        return cls


def _list(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    made = keep([])
    made.extend(reader.value(item) for item in data["in"])
    return made


def _dict(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    made = keep({})
    items = iter(data["in"])
    for key in items:
        name = reader.value(key)
        made[name] = reader.value(next(items))
    return made


def _set(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    made = keep(set())
    made.update(reader.inside(data))
    return made


def _data(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    """Create a dataclass instance before its parts, because it may contain itself."""
    cls = reader.find(data["of"])
    if not dataclasses.is_dataclass(cls):
        return _object(reader, data, keep)  # The class is of another kind since the value was stored.
    made = keep(object.__new__(cls))
    form = form_of(cls)
    assert form is not None
    parts = dict(zip(data["names"], reader.inside(data), strict=True))
    if set(parts) != set(form.part_names):
        return keep(_together(form, parts, data["of"]))
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _object(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    form = form_of(reader.find(data["of"]))
    if form is None:
        raise UnreadableValue(data["of"], "its class has no fields here.")
    return keep(_together(form, dict(zip(data["names"], reader.inside(data), strict=True)), data["of"]))


def _together(form: Form, parts: Mapping[str, Any], type_name: str) -> Any:
    try:
        return form.together(parts)
    except Exception as error:
        raise UnreadableValue(type_name, str(error)) from error  # Constructors of users raise any error.


def _error(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    cls = reader.find(data["of"])
    if not issubclass(cls, BaseException):
        raise InvalidState(f"'{data['of']}' is not an exception class in this process.")
    count = data["args"]
    cause, context, *rest = data["in"]
    made: BaseException = keep(
        rebuild_exception(cls, tuple(reader.value(item) for item in rest[:count]), {})
        if count
        else rebuild_exception(cls, (), {})
    )
    vars(made).update(zip(data["attributes"], [reader.value(item) for item in rest[count:]], strict=True))
    made.__cause__, made.__context__ = reader.value(cause), reader.value(context)
    made.__suppress_context__ = data["suppress"]
    made.__traceback__ = rebuild(data["lines"])
    return made


def _iterator(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    parts, at = reader.inside(data)
    if data["maker"] == "dict":
        return keep(reader.rebuild_dict_iterator(parts[0], *at))
    return keep(rebuild_iterator(data["maker"], parts, at))


def _method(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    return keep(getattr(reader.inside(data)[0], data["name"]))


def _reference(reader: _Reader, data: Mapping[str, Any], keep: Keep) -> Any:
    name, known = data["of"], reader.references
    module, _, path = str(name).partition(":")
    if name in known:
        return keep(known[name])
    if isinstance(known.get(module), ModuleType) and hasattr(known[module], path):
        return keep(getattr(known[module], path))
    raise InvalidState(f"The definition does not refer to '{name}', but the state does.")


_READERS: dict[str, Callable[[_Reader, Mapping[str, Any], Keep], Any]] = {
    "list": _list,
    "dict": _dict,
    "set": _set,
    "data": _data,
    "object": _object,
    "error": _error,
    "iterator": _iterator,
    "method": _method,
    "reference": _reference,
    "leaf": lambda reader, data, keep: keep(decode(data["v"], reader.types)),
    "tuple": lambda reader, data, keep: keep(tuple(reader.inside(data))),
    "frozenset": lambda reader, data, keep: keep(frozenset(reader.inside(data))),
    "range": lambda reader, data, keep: keep(range(*reader.inside(data))),
    "slice": lambda reader, data, keep: keep(slice(*reader.inside(data))),
    "complex": lambda reader, data, keep: keep(complex(*data["v"])),
}
