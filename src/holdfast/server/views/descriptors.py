"""Descriptors for the designer: each input with a JSON Schema and a suitable editor."""

from __future__ import annotations

from typing import Any

from holdfast.engine import Holdfast
from holdfast.model.commit_strategies import ACTIVITY_STRATEGIES, WORKFLOW_STRATEGIES, known_names
from holdfast.model.definition import ActivationStrategy, IncidentStrategy
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, OutputDescriptor
from holdfast.model.policy import MergeMode, OnLost
from holdfast.model.types import schema_of
from holdfast.model.types.names import BUILT_IN
from holdfast.model.values import encode
from holdfast.server.schemas.descriptors import (
    ActivityInfo,
    InputInfo,
    LanguageInfo,
    OutputInfo,
    PortInfo,
    StrategyInfo,
    StrategyList,
    VariableTypeInfo,
)
from holdfast.settings import JournalMode

_HINTS = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "decimal": "number",
    "boolean": "switch",
    "datetime": "datetime",
    "date": "date",
    "time": "time",
    "duration": "duration",
    "object": "object",
    "list": "list",
    "bytes": "file",
}


def activity_info(descriptor: ActivityDescriptor) -> ActivityInfo:
    short = descriptor.type.rpartition(".")[2]
    return ActivityInfo(
        type=descriptor.type,
        version=descriptor.version,
        name=short,
        display_name=descriptor.display_name or spaced(short),
        category=descriptor.category,
        description=descriptor.description,
        icon=descriptor.icon,
        kind=descriptor.kind.value,
        trigger=descriptor.trigger,
        container=descriptor.container or bool(descriptor.ports),
        terminal=descriptor.terminal,
        start=descriptor.start,
        browsable=descriptor.browsable,
        inputs=[_input(item) for item in descriptor.inputs],
        outputs=[_output(item) for item in descriptor.outputs],
        outcomes=list(descriptor.outcomes),
        dynamic_outcomes=descriptor.dynamic_outcomes,
        ports=[
            PortInfo(
                name=port.name,
                display_name=port.display_name or spaced(port.name),
                kind=port.kind.value,
                variables=list(port.variables),
            )
            for port in descriptor.ports
        ],
    )


def spaced(name: str) -> str:
    """`WriteLine` and `write_line` → `Write line`."""
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name).replace("_", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def _input(item: InputDescriptor) -> InputInfo:
    schema = dict(item.schema) or _schema(item.type)
    options = schema.get("enum")
    return InputInfo(
        name=item.name,
        display_name=item.display_name or spaced(item.name),
        type=item.type,
        schema=schema,
        hint=item.editor or ("secret" if item.secret else "options" if options else _hint(item.type)),
        default=encode(item.default),
        required=item.required,
        secret=item.secret,
        evaluated=item.evaluated,
        description=item.description,
        shown_when=None if item.shown_when is None else encode(dict(item.shown_when)),
        options=list(options) if isinstance(options, list) else None,
    )


def _output(item: OutputDescriptor) -> OutputInfo:
    return OutputInfo(
        name=item.name,
        display_name=item.display_name or spaced(item.name),
        type=item.type,
        schema=dict(item.schema) or _schema(item.type),
        description=item.description,
    )


def _schema(type_name: str) -> dict[str, Any]:
    try:
        return schema_of(type_name)
    except ValueError:
        return {}


def _hint(type_name: str) -> str:
    base = type_name.removesuffix("?").partition("[")[0]
    return _HINTS.get(base, "expression")


# -- languages, types, strategies --------------------------------------------------------------------------------------

_LANGUAGES = {
    "python": ("Python", "python", True),
    "javascript": ("JavaScript", "javascript", True),
    "liquid": ("Liquid", "liquid", True),
    "literal": ("Literal", "text", True),
    "variable": ("Variable", "text", True),
    "input": ("Input", "text", True),
    "object": ("Object", "json", True),
    "code": ("Trusted code", "python", False),
}


def languages(engine: Holdfast) -> list[LanguageInfo]:
    found = []
    for language in engine.registry.languages:
        shown, editor, browsable = _LANGUAGES.get(language, (language.title(), "text", True))
        found.append(LanguageInfo(language=language, display_name=shown, editor=editor, browsable=browsable))
    return found


_CATEGORIES = {"object": "Composite", "list": "Composite", "any": "Composite", "bytes": "Data"}


def variable_types(engine: Holdfast) -> list[VariableTypeInfo]:
    built_in = [
        VariableTypeInfo(
            name=name,
            display_name=spaced(name),
            category=_CATEGORIES.get(name, "Primitive"),
            schema=schema_of(name),
        )
        for name in sorted(BUILT_IN)
    ]
    types = engine._value_types()
    own = [
        VariableTypeInfo(
            name=types.name_of(cls),
            display_name=spaced(cls.__name__),
            category="Own",
            schema=schema_of(types.name_of(cls), types),
        )
        for cls in engine.registry.value_types
    ]
    return built_in + own


_WORDS = {
    "always": "Start any number of instances.",
    "singleton": "One instance at a time.",
    "correlation": "One instance per correlation id, of any definition.",
    "correlated_singleton": "One instance of this definition per correlation id.",
    "fault": "A fault ends the instance.",
    "continue_with_incidents": "A fault is recorded as an incident, and the other activities continue.",
    "include": "Record inputs and outputs.",
    "exclude": "Record what happened, without values.",
    "off": "Record nothing.",
}


_COMMITS = {**WORKFLOW_STRATEGIES, **ACTIVITY_STRATEGIES}


def strategies(engine: Holdfast) -> StrategyList:
    registry = engine.registry
    incidents = dict.fromkeys([*(str(item.value) for item in IncidentStrategy), *registry.incident_strategies])
    return StrategyList(
        activation=[
            _strategy(name)
            for name in [*(str(item.value) for item in ActivationStrategy), *registry.activation_strategies]
        ],
        incident=[_strategy(name) for name in incidents],
        commit=[
            StrategyInfo(name=name, display_name=spaced(name), description=_COMMITS.get(name))
            for name in known_names(registry.commit_strategies)
        ],
        journal=[_strategy(item.value) for item in JournalMode],
        merge=[_strategy(item.value) for item in MergeMode],
        on_lost=[_strategy(item.value) for item in OnLost],
    )


def _strategy(name: str) -> StrategyInfo:
    return StrategyInfo(name=name, display_name=spaced(name), description=_WORDS.get(name))
