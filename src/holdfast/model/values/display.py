"""Values as plain JSON without tags, for people and API clients, in the notation that inputs accept.

The result can be used as an input of a declared type, which restores the type of the value.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.errors import ValueRefused
from holdfast.model.values.encoder import TAG, encode
from holdfast.model.values.forms import FIELDS_SET, PRIVATE

__all__ = ["readable", "shown"]

_DESCRIBED = 1000
"""Maximum length of the description of a value that cannot be encoded."""


def shown(value: Any) -> Any:
    """A typed value as plain JSON. A value that cannot be encoded is described."""
    try:
        return readable(encode(value))
    except ValueRefused:
        return _text(repr(value)[:_DESCRIBED])


def readable(encoded: Any) -> Any:
    """Like `shown`, for the result of `encode` or `preview`. An object with an unknown tag is not changed."""
    cls = encoded.__class__
    if cls is str:
        return encoded if encoded.isascii() else _text(encoded)
    if cls is list:
        return [readable(item) for item in encoded]
    if cls is not dict:
        return encoded
    read = _READERS.get(encoded[TAG]) if isinstance(encoded.get(TAG), str) else None
    if read is None:
        return {_text(key): readable(item) for key, item in encoded.items()}
    return read(encoded)


def _text(text: str) -> str:
    """Escape lone surrogates, which JSON cannot represent."""
    return text.encode("utf-8", "backslashreplace").decode()


def _key(encoded: Any) -> str:
    key = readable(encoded)
    return key if isinstance(key, str) else msgspec.json.encode(key).decode()


def _whole(data: dict[str, Any]) -> str:
    try:
        return str(int(data["v"], 16))
    except ValueError:  # More digits than Python converts.
        return str(data["v"])


def _value(data: dict[str, Any]) -> Any:
    return readable(data["v"])


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **dict.fromkeys(
        ("tuple", "set", "frozenset", "enum", "datetime", "date", "time", "duration", "decimal", "uuid"),
        _value,
    ),
    "bytes": _value,
    "float": _value,
    "int": _whole,
    "text": lambda data: _text(b64decode(data["v"]).decode("utf-16-le", "surrogatepass")),
    "object": lambda data: {
        name: readable(part) for name, part in data["v"].items() if name not in (FIELDS_SET, PRIVATE)
    },
    "dict": lambda data: {_key(key): readable(item) for key, item in data["v"]},
    "error": lambda data: {"type": data["of"], "message": readable(data["message"])},
    "omitted": lambda data: {"omitted": data["type"], "size": data["size"], "hash": data["hash"]},
}
