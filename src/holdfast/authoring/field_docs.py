"""Docstrings of the fields of activity classes.

They exist only in the source text, so they are read from there, and only when a descriptor is shown. Running an
activity does not pay for it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import TypeVar

from msgspec.structs import replace

from holdfast.authoring.activity import ClassActivity
from holdfast.authoring.describe import first_paragraph
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, OutputDescriptor
from holdfast.ports import ActivityType

T = TypeVar("T", InputDescriptor, OutputDescriptor)


def documented(activity_type: ActivityType) -> ActivityDescriptor:
    """The descriptor of an activity type, with the docstrings of its fields."""
    descriptor = activity_type.descriptor
    if not isinstance(activity_type, ClassActivity):
        return descriptor
    texts: dict[str, str] = {}
    for cls in reversed(activity_type.cls.__mro__):
        texts.update(_docstrings(cls.__module__).get(cls.__qualname__, {}))

    def with_description(item: T) -> T:
        return item if item.description else replace(item, description=texts.get(item.name))

    return replace(
        descriptor,
        inputs=tuple(map(with_description, descriptor.inputs)),
        outputs=tuple(map(with_description, descriptor.outputs)),
    )


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Docstrings of fields, by class; empty if there is no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    return {node.name: dict(_fields(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, first_paragraph(text.value.value) or "")
        for field, text in pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    ]
