"""Export of a definition as a Python module, with imports of the activities of an engine."""

from __future__ import annotations

import sys
from typing import Any

from msgspec import Struct

from holdfast import activities
from holdfast.authoring.activity import Activity, ClassActivity
from holdfast.authoring.function import FunctionActivity, FunctionActivityType
from holdfast.authoring.printer import Known, print_definition, untangled
from holdfast.engine.library import Library
from holdfast.model.definition import Definition


class Written(Struct, frozen=True, kw_only=True):
    text: str
    notes: tuple[str, ...]
    """Limitations of the export, with remedies."""


def written_as_python(definition: Definition, engine: Library, *, untangle: bool = False) -> Written:
    """Python code of an equivalent definition. With `untangle`, flowcharts that are chains and decisions are written as Sequence
    and If. Activities are written by the names of public classes of Holdfast and of activities of the engine."""
    notes: list[str] = []
    if untangle:
        definition, tangled = untangled(definition, engine.descriptors)
        notes += [
            f"The flowchart '{name}' cannot be untangled: its connections loop, fork, or join in more than one place. "
            "It is written with its connections."
            for name in tangled
        ]
    printed = print_definition(definition, known(engine))
    notes += [
        f"'{name}' is written as Placed(…): this process has no class or function of that type. Add it with --activities MODULE."
        for name in printed.unknown
    ]
    return Written(text=printed.text, notes=tuple(notes))


def known(engine: Library) -> dict[str, Known]:
    """Activities that can be imported, by type."""
    found: dict[str, Known] = {}
    for name in dir(activities):
        _note(found, activities.__name__, name, getattr(activities, name))
    for activity_type in engine.registry.activity_types.values():
        source = _source(activity_type)
        if source is not None:
            module = sys.modules.get(source.__module__)
            _note(found, source.__module__, source.__name__, getattr(module, source.__name__, None))
    return found


def _source(activity_type: Any) -> Any:
    """The class or function that an activity type was made of."""
    if isinstance(activity_type, FunctionActivityType):
        return activity_type.function
    return activity_type.cls if isinstance(activity_type, ClassActivity) else None


def _note(found: dict[str, Known], module: str, name: str, thing: Any) -> None:
    is_class = isinstance(thing, type) and issubclass(thing, Activity) and "activity_type" in vars(thing)
    if is_class or isinstance(thing, FunctionActivity):
        found.setdefault(thing.activity_type.descriptor.type, Known(module=module, name=name, thing=thing))
