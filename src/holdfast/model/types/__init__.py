"""Type names in definitions: parsing, conformance and conversion of values.

`any string integer number decimal boolean bytes datetime date time duration uuid object list`, `list[T]`, `T?` (nullable),
and the public names of registered classes.
"""

from __future__ import annotations

from holdfast.model.types.conversion import conforms, convert, fit
from holdfast.model.types.names import BUILT_IN, TypeName, is_known_type, parse_type
from holdfast.model.types.schemas import describe, schema_of
from holdfast.model.types.shape import shaped

__all__ = [
    "BUILT_IN",
    "TypeName",
    "conforms",
    "convert",
    "describe",
    "fit",
    "is_known_type",
    "parse_type",
    "schema_of",
    "shaped",
]
