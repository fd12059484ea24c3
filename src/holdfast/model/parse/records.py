"""Parser of plain records in a document: variables, declarations, connections, options.

The frozen classes of the model define keys and types. Each key is read separately, so that one wrong value does not hide
others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct

from holdfast.model.durations import parse_duration
from holdfast.model.parse.findings import Findings
from holdfast.model.pointers import pointer

__all__ = ["read_record", "read_records"]

R = TypeVar("R", bound=Struct)
_Read = Callable[[Any, str, Findings], Any]


class _Wrong(Exception):
    """The value has been reported; the field keeps its default."""


@cache
def _fields_of(cls: type[Struct]) -> dict[str, tuple[str, bool, _Read]]:
    """By key: name of the field, whether it is required, and its reader."""
    return {info.encode_name: (info.name, info.required, _reader_of(info.type)) for info in msgspec.structs.fields(cls)}


def _reader_of(annotation: Any) -> _Read:
    choices = get_args(annotation) or (annotation,)
    if annotation is Any:
        return lambda raw, path, findings: findings.literal(raw, path)
    if timedelta in choices:
        return _read_duration
    nested = next((choice for choice in choices if isinstance(choice, type) and issubclass(choice, Struct)), None)
    if nested is not None:
        return _nested_reader(nested)
    return _plain_reader(annotation)


def _read_duration(raw: Any, path: str, findings: Findings) -> timedelta | None:
    if raw is None:
        return None
    try:
        if not isinstance(raw, str):
            raise ValueError("A duration must be text.")
        return parse_duration(raw)
    except ValueError as error:
        findings.add(path, "invalid-duration", str(error), "For example 'PT30S', 'P1DT2H', '00:00:30' or '1.02:00:00'.")
        raise _Wrong from None


def _nested_reader(cls: type[Struct]) -> _Read:
    def read(raw: Any, path: str, findings: Findings) -> Any:
        if raw is None:
            return None
        found = read_record(cls, raw, path, findings)
        if found is None:
            raise _Wrong
        return found

    return read


def _plain_reader(annotation: Any) -> _Read:
    def read(raw: Any, path: str, findings: Findings) -> Any:
        try:
            return msgspec.convert(raw, annotation)
        except msgspec.ValidationError as error:
            findings.add(path, "wrong-kind", f"{error}.".replace("`", "'"), _remedy(annotation))
            raise _Wrong from None

    return read


def _remedy(annotation: Any) -> str:
    for choice in get_args(annotation) or (annotation,):
        if isinstance(choice, type) and issubclass(choice, Enum):
            return f"Use one of {', '.join(str(member.value) for member in choice)}."
    return "Correct the value or leave the key out."


def read_record(cls: type[R], raw: Any, path: str, findings: Findings) -> R | None:
    """The record with all readable values; None if it is not an object or lacks a required key."""
    if not isinstance(raw, dict):
        findings.wrong_kind(path, f"The {_word(cls)}", "an object", raw)
        return None
    fields = _fields_of(cls)
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in fields:
            _report_unknown(key, fields, cls, path, findings)
            continue
        name, _, read = fields[key]
        try:
            values[name] = read(value, pointer(path, key), findings)
        except _Wrong:
            continue
    missing = [key for key, (name, required, _) in fields.items() if required and name not in values]
    for key in missing:
        if key not in raw:
            findings.add(path, "missing-key", f"The {_word(cls)} has no '{key}'.", f"Add '{key}'.")
    return None if missing else cls(**values)


def read_records(cls: type[R], raw: Any, path: str, findings: Findings) -> tuple[R, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        findings.wrong_kind(path, path.rpartition("/")[2], "a list", raw)
        return ()
    read = [read_record(cls, item, pointer(path, index), findings) for index, item in enumerate(raw)]
    return tuple(record for record in read if record is not None)


def _report_unknown(key: Any, fields: Any, cls: type[Struct], path: str, findings: Findings) -> None:
    close = get_close_matches(str(key), list(fields), n=1)
    remedy = f"Did you mean '{close[0]}'?" if close else f"It has {', '.join(fields)}."
    findings.add(pointer(path, str(key)), "unknown-key", f"The {_word(cls)} has no key '{key}'.", remedy)


_WORDS = {
    "InputDeclaration": "input",
    "OutputDeclaration": "output",
    "ActivityOptions": "options",
    "DefinitionOptions": "options",
    "JournalRule": "journal rule",
}


def _word(cls: type) -> str:
    return _WORDS.get(cls.__name__, cls.__name__.lower())
