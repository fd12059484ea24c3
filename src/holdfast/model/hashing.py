"""Hashes that are equal on every machine and Python build, for matching bookmarks and pinning definitions.

`stimulus_hash` hashes the meaning of a value, so that a key from JSON matches one from Python. The order of a dict, trailing
zeros of a Decimal (1.0 and 1.00 are one amount), the zone of a datetime, and tuple or list make no difference. Types of
numbers do: 1, 1.0, Decimal(1) and True are four different keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.model.definition import Definition
from holdfast.model.values import TypeRegistry, encode
from holdfast.model.values.encoder import TAG
from holdfast.model.writer import write_definition, write_node

__all__ = ["content_hash", "stimulus_hash", "text_hash"]

_CANONICAL = msgspec.json.Encoder(order="sorted")

_NOT_CONTENT = frozenset({"$schema", "format", "version", "description", "labels", "metadata"})
"""Keys of a definition for people and editors only. Version numbers are labels on content."""
_NOT_CONTENT_OF_DECLARATION = frozenset({"display_name", "description", "category", "editor"})


def stimulus_hash(*parts: Any, types: TypeRegistry | None = None) -> str:
    """64 hexadecimal digits. Refuses values that cannot be stored. `types` maps classes to their public names."""
    if len(parts) == 2 and type(parts[1]) is dict and type(parts[0]) is str:
        items = tuple(parts[1].items())
        for key, value in items:
            if type(value) is not str or type(key) is not str:
                break
        else:
            return _hash_of_texts(parts[0], items)
    return _hash(parts, types)


@lru_cache(maxsize=8192)
def _hash_of_texts(name: str, items: tuple[tuple[str, str], ...]) -> str:
    """Fast path: most keys are a name and a few texts, hashed once for the bookmark and again for its stimulus. Only texts
    are cached, since 1, 1.0 and True are equal as keys of a cache."""
    return _hash((name, dict(items)), None)


def text_hash(name: str, texts: list[str | None]) -> str:
    """`stimulus_hash(name, texts)`, faster: texts need no encoding as values."""
    try:
        return sha256(_CANONICAL.encode([name, texts])).hexdigest()
    except UnicodeEncodeError:  # A lone surrogate.
        return _hash((name, texts), None)


def _hash(parts: tuple[Any, ...], types: TypeRegistry | None) -> str:
    plain = [_canonical(encode(part, types)) for part in parts]
    return sha256(_CANONICAL.encode(plain)).hexdigest()


def _canonical(data: Any) -> Any:
    cls = data.__class__
    if cls is float:
        # Independent of the JSON encoder, whose float format may change between releases.
        return {TAG: "float", "v": repr(data + 0.0)}
    if cls is list:
        return [_canonical(item) for item in data]
    if cls is not dict:
        return data
    if TAG not in data:
        return {key: _canonical(item) for key, item in data.items()}
    return _canonical_tagged(data)


def _canonical_tagged(data: dict[str, Any]) -> Any:
    tag = data[TAG]
    if tag == "tuple":
        return _canonical(data["v"])
    if tag == "decimal":
        return {TAG: tag, "v": _amount(Decimal(data["v"]))}
    if tag == "datetime":
        return {TAG: tag, "v": _moment(data["v"])}
    if tag == "dict":
        return {TAG: tag, "v": sorted((_canonical(pair) for pair in data["v"]), key=_CANONICAL.encode)}
    if tag in ("set", "frozenset"):
        return {TAG: "set", "v": sorted((_canonical(item) for item in data["v"]), key=_CANONICAL.encode)}
    return {key: item if key == TAG else _canonical(item) for key, item in data.items()}


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except OverflowError:
        # The first and last hours of the calendar are out of range in UTC.
        return text


def _amount(number: Decimal) -> str:
    """Exact, without trailing zeros. `normalize` would round to the precision of the current context."""
    if not number.is_finite():
        return str(number)
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    if not short:
        return "0"
    assert isinstance(exponent, int)
    return f"{'-' if sign else ''}{short}e{exponent + len(text) - len(short)}"


def content_hash(definition: Definition) -> str:
    """Hash of the executable content: without positions, descriptions, labels, display names and version number."""
    document = write_definition(definition)
    content: dict[str, Any] = {key: value for key, value in document.items() if key not in _NOT_CONTENT}
    for declared in ("inputs", "outputs"):
        if declared in content:
            content[declared] = [_without(item, _NOT_CONTENT_OF_DECLARATION) for item in content[declared]]
    content["root"] = write_node(definition.root, with_metadata=False)
    return sha256(_CANONICAL.encode(_floats_as_text(content))).hexdigest()


def _without(record: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in left_out}


def _floats_as_text(data: Any) -> Any:
    if data.__class__ is float:
        return {TAG: "float", "v": repr(data)}
    if data.__class__ is dict:
        return {key: _floats_as_text(item) for key, item in data.items()}
    return [_floats_as_text(item) for item in data] if data.__class__ is list else data
