"""Activity descriptors from annotations, defaults and docstrings."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from holdfast.authoring.fields import MISSING, InputSpec, OutputSpec, PortSpec
from holdfast.errors import ActivityDeclarationError
from holdfast.model.descriptor import (
    ActivityDescriptor,
    InputDescriptor,
    Kind,
    OutputDescriptor,
    PortDescriptor,
    PortKind,
)
from holdfast.model.types import describe
from holdfast.model.values.registry import is_registrable


class ClassFacts(Struct, frozen=True, kw_only=True):
    """Facts from the class statement of an activity."""

    type: str
    version: int
    kind: Kind
    outcomes: tuple[str, ...]
    category: str
    display_name: str | None
    icon: str | None
    trigger: bool
    terminal: bool
    start: bool
    container: bool
    dynamic_outcomes: bool
    browsable: bool


Specs = Mapping[str, InputSpec | OutputSpec | PortSpec]


def describe_class(cls: type, facts: ClassFacts, specs: Specs) -> ActivityDescriptor:
    hints = hints_of(cls)
    _check_conditions(facts.type, {name: spec for name, spec in specs.items() if isinstance(spec, InputSpec)})
    return ActivityDescriptor(
        **{name: getattr(facts, name) for name in ClassFacts.__struct_fields__ if name != "display_name"},
        display_name=facts.display_name or spaced(facts.type),
        description=first_paragraph(cls.__doc__),
        inputs=tuple(
            describe_input(name, hints.get(name, Any), spec)
            for name, spec in specs.items()
            if isinstance(spec, InputSpec)
        ),
        outputs=tuple(
            _output(name, hints.get(name, Any), spec) for name, spec in specs.items() if isinstance(spec, OutputSpec)
        ),
        ports=tuple(
            PortDescriptor(
                name=name,
                kind=PortKind(spec.kind),
                variables=spec.variables,
                named_by=spec.named_by,
                keys=spec.keys,
                display_name=spec.display_name or spaced(name),
            )
            for name, spec in specs.items()
            if isinstance(spec, PortSpec)
        ),
    )


def describe_function(
    function: Callable[..., Any], facts: ClassFacts, context_name: str | None, secrets: frozenset[str]
) -> ActivityDescriptor:
    hints = hints_of(function)
    inputs = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == context_name:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ActivityDeclarationError(
                f"@activity {facts.type}: the parameter '{parameter}' cannot be an input. "
                "Inputs need names: use ordinary parameters."
            )
        default = MISSING if parameter.default is parameter.empty else parameter.default
        spec = InputSpec(default=default, secret=name in secrets)
        inputs.append(describe_input(name, hints.get(name, Any), spec))
    type_name, schema = describe(hints.get("return", Any))
    return ActivityDescriptor(
        **{name: getattr(facts, name) for name in ClassFacts.__struct_fields__ if name != "display_name"},
        display_name=facts.display_name or spaced(facts.type),
        description=first_paragraph(function.__doc__),
        inputs=tuple(inputs),
        outputs=(OutputDescriptor(name="result", type=type_name, schema=schema, display_name="Result"),),
    )


def describe_input(name: str, annotation: Any, spec: InputSpec) -> InputDescriptor:
    type_name, schema = describe(annotation)
    return InputDescriptor(
        name=name,
        type=type_name,
        schema=schema,
        required=spec.default is MISSING,
        default=None if spec.default is MISSING else spec.default,
        display_name=spec.display_name or spaced(name),
        description=spec.description,
        editor=spec.editor,
        secret=spec.secret,
        evaluated=spec.evaluated,
        shown_when=spec.shown_when,
    )


def _check_conditions(type_name: str, inputs: Mapping[str, InputSpec]) -> None:
    for name, spec in inputs.items():
        for other in spec.shown_when or ():
            if other == name or other not in inputs:
                raise ActivityDeclarationError(
                    f"{type_name}.{name}: shown_when refers to '{other}', which is not another input. "
                    f"Inputs: {', '.join(inputs)}."
                )
        if spec.shown_when and spec.default is MISSING:
            raise ActivityDeclarationError(
                f"{type_name}.{name} is required and has shown_when, so it cannot be set while it is hidden. "
                "Give it a default."
            )


def _output(name: str, annotation: Any, spec: OutputSpec) -> OutputDescriptor:
    type_name, schema = describe(annotation)
    return OutputDescriptor(
        name=name,
        type=type_name,
        schema=schema,
        display_name=spec.display_name or spaced(name),
        description=spec.description,
    )


def hints_of(target: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(target)
    except (NameError, AttributeError, TypeError) as error:
        raise ActivityDeclarationError(
            f"The annotations of '{target.__qualname__}' cannot be resolved: {error}. "
            "Import the types it names at module level, not only under TYPE_CHECKING."
        ) from error


def spaced(name: str) -> str:
    """`SetVariable` → `Set variable`, `event_name` → `Event name`."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).replace("_", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def first_paragraph(text: str | None) -> str | None:
    return inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ") if text else None


def value_classes(target: Any) -> list[type]:
    """Classes that the annotations of an activity name. Their instances may be stored in the state."""
    found: dict[type, None] = {}
    for annotation in hints_of(target).values():
        _collect(annotation, found)
    return list(found)


def _collect(annotation: Any, found: dict[type, None]) -> None:
    if is_registrable(annotation):
        found[annotation] = None
    for argument in typing.get_args(annotation):
        _collect(argument, found)
