"""Parser of type names."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from holdfast.model.values import TypeRegistry

__all__ = ["BUILT_IN", "TypeName", "is_known_type", "parse_type"]

BUILT_IN = frozenset(
    {
        "any",
        "string",
        "integer",
        "number",
        "decimal",
        "boolean",
        "bytes",
        "datetime",
        "date",
        "time",
        "duration",
        "uuid",
        "object",
        "list",
    }
)

_LONGEST = 300


class TypeName(Struct, frozen=True):
    """`list[string]?` is base `list`, item `string`, nullable."""

    base: str
    item: TypeName | None = None
    nullable: bool = False

    def __str__(self) -> str:
        inner = f"[{self.item}]" if self.item else ""
        return f"{self.base}{inner}{'?' if self.nullable else ''}"


@lru_cache(maxsize=1024)
def parse_type(text: str) -> TypeName:
    """Raises ValueError for an invalid type name. A class name need not be registered."""
    if len(text) > _LONGEST:
        raise ValueError(f"A type name has at most {_LONGEST} characters.")
    name = text.strip()
    if name.endswith("?"):
        inner = parse_type(name[:-1])
        return TypeName(inner.base, inner.item, nullable=True)
    if name.startswith("list[") and name.endswith("]"):
        return TypeName("list", parse_type(name[5:-1]))
    if name in BUILT_IN or _is_class_name(name):
        return TypeName(name)
    raise ValueError(
        f"'{text}' is not a type. Use one of {', '.join(sorted(BUILT_IN))}, 'list[T]', 'T?' or the name of a registered class."
    )


def _is_class_name(name: str) -> bool:
    return bool(name) and not any(char.isspace() or char in "[]?" for char in name) and name not in {":", "."}


def is_known_type(text: str, types: TypeRegistry | None = None) -> bool:
    """Without a registry, every name of the form `module:Class` counts as known."""
    try:
        name = parse_type(text)
    except ValueError:
        return False
    while name.item is not None:
        name = name.item
    if name.base in BUILT_IN:
        return True
    return ":" in name.base if types is None else types.find(name.base) is not None
