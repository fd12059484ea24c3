"""State as a document with field names, for people and files. Fields at their default are omitted.

Old stores contain states in this form; `from_document` reads them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from holdfast.execution.part_writer import Array
from holdfast.execution.state import ActivationState, BookmarkState, EffectState, ScopeState, State

_PARTS: Mapping[str, type[Struct]] = {
    "scopes": ScopeState,
    "activations": ActivationState,
    "bookmarks": BookmarkState,
    "effects": EffectState,
}
_HASH = "hash"
_write = msgspec.msgpack.Encoder().encode
_read = msgspec.msgpack.Decoder(State).decode


def to_document(written: Array) -> dict[str, Any]:
    state = _read(_write(written))
    document = _named(State, msgspec.to_builtins(state))
    for part, kind in _PARTS.items():
        if part in document:
            document[part] = [_named(kind, row) for row in document[part]]
    for mark, found in zip(document.get("bookmarks", ()), state.bookmarks, strict=True):
        mark[_HASH] = found.hash.hex()
    return document


def from_document(document: Mapping[str, Any]) -> State:
    """Raises `LookupError`, `TypeError`, `ValueError` or `AttributeError` for a damaged document."""
    rows = {
        **document,
        **{part: [_row(kind, item) for item in document.get(part, ())] for part, kind in _PARTS.items()},
    }
    return msgspec.convert(_row(State, rows), State)


def _named(kind: type[Struct], row: list[Any]) -> dict[str, Any]:
    defaults = _DEFAULTS[kind]
    return {
        name: value
        for name, value in zip(kind.__struct_fields__, row, strict=True)
        if name not in defaults or value != defaults[name]
    }


def _row(kind: type[Struct], item: Mapping[str, Any]) -> list[Any]:
    defaults = _DEFAULTS[kind]
    row = [item[name] if name in item else defaults[name] for name in kind.__struct_fields__]
    if kind is BookmarkState:
        place = kind.__struct_fields__.index(_HASH)
        row[place] = bytes.fromhex(row[place])
    return row


def _defaults(kind: type[Struct]) -> dict[str, Any]:
    found: dict[str, Any] = {_HASH: ""} if kind is BookmarkState else {}
    for item in fields(kind):
        if item.default is not NODEFAULT:
            found[item.name] = msgspec.to_builtins(item.default)
        elif item.default_factory is not NODEFAULT:
            found[item.name] = item.default_factory()
    return found


_DEFAULTS: Mapping[type[Struct], dict[str, Any]] = {State: _defaults(State)} | {
    kind: _defaults(kind) for kind in _PARTS.values()
}
