"""Exceptions as values: name, names of the bases, message, arguments and attributes.

An exception is never refused: attributes that cannot be stored are replaced by their text, since losing the fault would be
worse. If its class is not registered in the reading process, it becomes a `KeptException`, which still has the names of its
class and bases and is encoded again unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.model.values.registry import TypeRegistry, default_name

__all__ = ["KeptException", "arguments_of", "exception_names", "rebuild_exception"]


class KeptException(Exception):
    """Replaces an exception whose class is not known in this process."""

    def __init__(self, names: tuple[str, ...], message: str, kept_args: tuple[Any, ...], attributes: Mapping[str, Any]):
        self.names = names
        """Name of its class, then of its bases."""
        self.message = message
        self.kept_args = kept_args
        self.attributes = dict(attributes)
        super().__init__(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptException):
            return NotImplemented
        return (self.names, self.message, self.kept_args, self.attributes) == (
            other.names,
            other.message,
            other.kept_args,
            other.attributes,
        )

    def __hash__(self) -> int:
        return hash((self.names, self.message))


def exception_names(error: BaseException | type[BaseException], types: TypeRegistry | None = None) -> tuple[str, ...]:
    """Public names of an exception's class and its bases, nearest first; `except` by name matches them."""
    if isinstance(error, KeptException):
        return error.names
    cls = error if isinstance(error, type) else type(error)
    bases = [base for base in cls.__mro__ if issubclass(base, BaseException)]
    return tuple(types.name_of(base) if types else default_name(base) for base in bases)


def arguments_of(error: BaseException) -> tuple[Any, ...]:
    """The arguments that rebuild it; the `args` of an OSError do not contain the file name."""
    return tuple(OSError.__reduce__(error)[1]) if isinstance(error, OSError) else error.args


def rebuild_exception(cls: type[BaseException], args: tuple[Any, ...], attributes: Mapping[str, Any]) -> BaseException:
    """Build the exception without calling its own `__init__`, whose parameters are unknown."""
    built_in = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    made: BaseException = cls.__new__(cls, *args)
    built_in.__init__(made, *args)  # type: ignore[misc] # the C-level initializer, for classes such as UnicodeDecodeError
    made.__dict__.update(attributes)
    return made
