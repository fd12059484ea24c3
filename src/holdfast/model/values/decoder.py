"""Decoder of typed values from JSON. Classes come only from the registry."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from datetime import date, datetime, time, tzinfo
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from holdfast.errors import HoldfastError, InvalidState, UnknownValueType, UnreadableValue
from holdfast.model.durations import parse_duration
from holdfast.model.values.check import MAX_DEPTH
from holdfast.model.values.encoder import TAG
from holdfast.model.values.exceptions import KeptException, rebuild_exception
from holdfast.model.values.forms import form_of
from holdfast.model.values.omitted import Omitted
from holdfast.model.values.registry import TypeRegistry

__all__ = ["decode"]

_NO_TYPES = TypeRegistry()
_DEPTH_LIMIT = 3 * MAX_DEPTH
"""A tag and its pairs add levels between a container and its items."""
_CONTAINERS = frozenset({dict, list})
_FEW = 16
"""Longer lists are first checked as a whole for plain items: every burst reads all items of a large loop."""


def decode(data: Any, types: TypeRegistry | None = None) -> Any:
    """Raises `UnknownValueType` for an unregistered name and `InvalidState` for data that `encode` did not write."""
    return _decode(data, types or _NO_TYPES, 0)


def _decode(data: Any, types: TypeRegistry, depth: int) -> Any:
    cls = data.__class__
    if cls is not dict and cls is not list:
        return data
    if depth > _DEPTH_LIMIT:
        raise InvalidState(f"Stored data is nested deeper than {_DEPTH_LIMIT} levels, the limit for values.")
    if cls is list:
        if len(data) > _FEW and _CONTAINERS.isdisjoint(set(map(type, data))):
            return data[:]
        return [
            _decode(item, types, depth + 1) if item.__class__ is dict or item.__class__ is list else item
            for item in data
        ]
    if TAG in data:
        return _tagged(data, types, depth + 1)
    out = {}  # A loop: before Python 3.12 a comprehension is a function call, which costs more for few items.
    for key, item in data.items():
        inner = item.__class__
        out[key] = _decode(item, types, depth + 1) if inner is dict or inner is list else item
    return out


def _tagged(data: dict[str, Any], types: TypeRegistry, depth: int) -> Any:
    tag = data[TAG]
    read = _READERS.get(tag) if isinstance(tag, str) else None
    if read is None:
        raise UnknownValueType(str(tag))
    try:
        return read(data, types, depth)
    except HoldfastError:
        raise
    except Exception as error:
        # Constructors and parsers raise many kinds of errors on invalid data; loaders of state get one kind.
        raise UnreadableValue(data["of"] if isinstance(data.get("of"), str) else tag, str(error)) from error


# -- containers --------------------------------------------------------------------------------------------------------


def _items(data: dict[str, Any], types: TypeRegistry, depth: int) -> list[Any]:
    items = _decode(data["v"], types, depth)
    if items.__class__ is not list:
        raise ValueError("its items are not a list.")
    found: list[Any] = items
    return found


def _dict(data: dict[str, Any], types: TypeRegistry, depth: int) -> Any:
    return {_decode(key, types, depth): _decode(item, types, depth) for key, item in data["v"]}


# -- scalars -----------------------------------------------------------------------------------------------------------


def _text(data: dict[str, Any], types: TypeRegistry, depth: int) -> str:
    return b64decode(data["v"], validate=True).decode("utf-16-le", "surrogatepass")


def _datetime(data: dict[str, Any], types: TypeRegistry, depth: int) -> datetime:
    moment = datetime.fromisoformat(data["v"])
    if moment.tzinfo is None:
        raise ValueError("it has no offset.")
    if "zone" not in data and "fold" not in data:
        return moment
    # Keeps the wall time, as Python does: if the rules of the zone change, the instant moves, not the wall time.
    return moment.replace(tzinfo=_zone(data) or moment.tzinfo, fold=int(data.get("fold", 0)))


def _time(data: dict[str, Any], types: TypeRegistry, depth: int) -> time:
    moment = time.fromisoformat(data["v"])
    return moment.replace(tzinfo=_zone(data) or moment.tzinfo, fold=int(data.get("fold", 0)))


def _zone(data: dict[str, Any]) -> tzinfo | None:
    """None also for a zone that this machine does not know: the stored offset still gives the right instant."""
    key = data.get("zone")
    if key is None:
        return None
    try:
        return ZoneInfo(key)
    except (KeyError, ValueError, OSError):
        return None


# -- classes -----------------------------------------------------------------------------------------------------------


def _class(data: dict[str, Any], types: TypeRegistry) -> type:
    name = data["of"]
    cls = types.find(name)
    if cls is None:
        raise UnknownValueType(str(name))
    return cls


def _enum(data: dict[str, Any], types: TypeRegistry, depth: int) -> Enum:
    cls = _class(data, types)
    if not issubclass(cls, Enum):
        raise ValueError("it is not an enum here.")
    name = data["v"]
    if isinstance(name, str) and name not in cls.__members__:
        raise ValueError(f"it has no member '{name}' here.")
    return cls[name] if isinstance(name, str) else cls(name)


def _object(data: dict[str, Any], types: TypeRegistry, depth: int) -> Any:
    cls = _class(data, types)
    form = form_of(cls)
    if form is None:
        raise ValueError("its class has no fields here.")
    return form.together({name: _decode(part, types, depth) for name, part in data["v"].items()})


def _error(data: dict[str, Any], types: TypeRegistry, depth: int) -> BaseException:
    name = data["of"]
    args = tuple(_decode(item, types, depth) for item in data["args"])
    attributes = {_decode(key, types, depth): _decode(item, types, depth) for key, item in data["state"]}
    cls = types.find(name)
    if cls is None or not issubclass(cls, BaseException):
        return KeptException((name, *data["bases"]), _decode(data["message"], types, depth), args, attributes)
    return rebuild_exception(cls, args, attributes)


_READERS: dict[str, Callable[[dict[str, Any], TypeRegistry, int], Any]] = {
    "dict": _dict,
    "tuple": lambda data, types, depth: tuple(_items(data, types, depth)),
    "set": lambda data, types, depth: set(_items(data, types, depth)),
    "frozenset": lambda data, types, depth: frozenset(_items(data, types, depth)),
    "text": _text,
    "datetime": _datetime,
    "time": _time,
    "enum": _enum,
    "object": _object,
    "error": _error,
    "omitted": lambda data, _types, _depth: Omitted(type=data["type"], size=data["size"], hash=data["hash"]),
    "int": lambda data, _types, _depth: int(data["v"], 16),
    "float": lambda data, _types, _depth: float(data["v"]),
    "decimal": lambda data, _types, _depth: Decimal(data["v"]),
    "date": lambda data, _types, _depth: date.fromisoformat(data["v"]),
    "duration": lambda data, _types, _depth: parse_duration(data["v"]),
    "uuid": lambda data, _types, _depth: UUID(data["v"]),
    "bytes": lambda data, _types, _depth: b64decode(data["v"], validate=True),
}
