"""Forms: decomposition of objects into named parts, and their reconstruction.

Supports dataclasses, msgspec Structs, named tuples and pydantic models. This module does not import pydantic: if it is not
imported yet, no value can be one of its models.

Reconstruction works like copying: stored parts override values that the constructor computes. `__post_init__` still runs, for
derived attributes. A stored part that the class no longer has is ignored; a new part takes its default. Classes may therefore
evolve while instances wait.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

__all__ = ["Form", "form_of"]

Parts = Mapping[str, Any]

FIELDS_SET = "__fields_set__"
PRIVATE = "__private__"


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """The parts of objects of a class, and the functions that split and rebuild them."""

    part_names: tuple[str, ...]
    apart: Callable[[Any], dict[str, Any]]
    together: Callable[[Parts], Any]
    """Raises the errors of the class for invalid parts."""
    frozen: bool


_forms: dict[type, Form | None] = {}


def form_of(cls: type) -> Form | None:
    """None if objects of this class cannot be decomposed."""
    try:
        return _forms[cls]
    except KeyError:
        form = _forms[cls] = _find_form(cls)
        return form


def _find_form(cls: type) -> Form | None:
    if issubclass(cls, msgspec.Struct):
        return _struct_form(cls)
    if is_pydantic(cls):
        return _pydantic_form(cls)
    if dataclasses.is_dataclass(cls):
        return _dataclass_form(cls)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple_form(cls)
    return None


# -- dataclasses -------------------------------------------------------------------------------------------------------


def _dataclass_form(cls: Any) -> Form:
    fields = dataclasses.fields(cls)
    names = tuple(field.name for field in fields)
    params = cls.__dataclass_params__
    has_init_vars = any(
        kind._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined] # there is no public API for it
        for kind in cls.__dataclass_fields__.values()
    )
    constructed = hasattr(cls, "__post_init__") and not has_init_vars and params.init

    def apart(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    def together(parts: Parts) -> Any:
        given = {field.name: parts[field.name] if field.name in parts else _default(field) for field in fields}
        if constructed:
            made = cls(**{field.name: given[field.name] for field in fields if field.init})
        else:
            made = object.__new__(cls)
        for name, part in given.items():
            object.__setattr__(made, name, part)
        return made

    return Form(names, apart, together, params.frozen)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise ValueError(_missing(field.name))


def _missing(name: str) -> str:
    return f"its field '{name}' is not in the stored value and has no default."


# -- msgspec -----------------------------------------------------------------------------------------------------------


def _struct_form(cls: type[msgspec.Struct]) -> Form:
    names = cls.__struct_fields__
    known = frozenset(names)

    def apart(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    def together(parts: Parts) -> Any:
        return cls(**{name: part for name, part in parts.items() if name in known})

    return Form(names, apart, together, cls.__struct_config__.frozen)


# -- named tuples ------------------------------------------------------------------------------------------------------


def _named_tuple_form(cls: Any) -> Form:
    names: tuple[str, ...] = cls._fields

    def together(parts: Parts) -> Any:
        return cls(**{name: part for name, part in parts.items() if name in names})

    return Form(names, lambda value: dict(zip(names, value, strict=True)), together, frozen=True)


# -- pydantic ----------------------------------------------------------------------------------------------------------


def is_pydantic(cls: type) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(cls, pydantic.BaseModel)


def _pydantic_form(cls: Any) -> Form:
    names = tuple(cls.model_fields)
    required = tuple(name for name, field in cls.model_fields.items() if field.is_required())

    def apart(value: Any) -> dict[str, Any]:
        parts = {name: getattr(value, name) for name in names}
        parts.update(value.model_extra or {})
        if len(value.model_fields_set) < len(parts):
            parts[FIELDS_SET] = sorted(value.model_fields_set)
        if value.__pydantic_private__:
            parts[PRIVATE] = dict(value.__pydantic_private__)
        return parts

    def together(parts: Parts) -> Any:
        fields = {name: part for name, part in parts.items() if name not in (FIELDS_SET, PRIVATE)}
        for name in required:
            if name not in fields:
                raise ValueError(_missing(name))
        made = cls.model_construct(_fields_set=set(parts.get(FIELDS_SET, fields)), **fields)
        if PRIVATE in parts:
            object.__setattr__(made, "__pydantic_private__", dict(parts[PRIVATE]))
        return made

    return Form(names, apart, together, bool(cls.model_config.get("frozen")))
