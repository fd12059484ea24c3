"""Triggers: activities that start instances, and their index, which is written when a definition is published.

A trigger is an activity with `can_start`. Its inputs are evaluated at publish, without an instance, so an expression that
needs an instance is a problem of the definition. `trigger_payloads()` of its class returns the payloads of stimuli that start it.

The index also lists the events that published definitions wait for after their start: a broadcast that no bookmark takes is kept
only if one of these definitions may wait for it later (rule H12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from holdfast.errors import HoldfastError, InvalidDefinition
from holdfast.model.catalog import DefinitionVersion, TriggerRow
from holdfast.model.checks.survey import children_of
from holdfast.model.definition import ActivityNode, Definition, Expression
from holdfast.model.problem import Problem
from holdfast.model.requests import EVENT
from holdfast.model.scope import Names, Shape
from holdfast.model.stored import wake_key
from holdfast.model.types import conforms, convert
from holdfast.model.values import TypeRegistry
from holdfast.model.wake_keys import key_of
from holdfast.ports import ActivityType, ExpressionEvaluator
from holdfast.runtime.payload_codec import encode_payload

AWAITED = "~awaited"
"""The type of rows for stimuli that a definition waits for; these rows start nothing."""
ANY = "*"
_WAITS = ("Event", "WaitFor")


class Workshop(Protocol):
    """The languages and activities of the engine, for the evaluation of triggers."""

    @property
    def languages(self) -> Mapping[str, ExpressionEvaluator]: ...
    def activity_type(self, name: str, version: int = 1) -> ActivityType | None: ...


def awaited_key(type_name: str, name: str = ANY) -> int:
    return wake_key(AWAITED, f"{type_name}:{name}".encode())


# -- at publish --------------------------------------------------------------------------------------------------------


def triggers_of(definition: Definition, workshop: Workshop) -> list[tuple[ActivityNode, Any]]:
    """Every trigger with its payloads. Raises `InvalidDefinition` with all triggers that cannot be evaluated."""
    found: list[tuple[ActivityNode, Any]] = []
    problems: list[Problem] = []
    for activity, path in placed(definition.root, "/root"):
        if not activity.options.can_start:
            continue
        kind = workshop.activity_type(activity.type, activity.version)
        if kind is None or not kind.descriptor.trigger:
            problems.append(
                Problem(
                    path=f"{path}/can_start",
                    code="no-trigger",
                    message=f"'{activity.id}' has can_start, but a {activity.type} is not a trigger.",
                    remedy="Remove can_start, or use a trigger such as Event, Timer or Cron.",
                )
            )
            continue
        try:
            inputs = _evaluated(activity, kind, workshop)
            found.extend((activity, payload) for payload in _payloads(kind, inputs))
        except Exception as error:  # noqa: BLE001 - user code: every error is a problem of the definition
            problems.append(
                Problem(
                    path=f"{path}/inputs",
                    code="trigger-input",
                    message=f"The trigger '{activity.id}' cannot be indexed: {error}",
                    remedy="A trigger's inputs are evaluated when the workflow is published, so they cannot use "
                    "variables, inputs or outputs of an instance.",
                )
            )
    if problems:
        raise InvalidDefinition(problems, name=f"Workflow '{definition.title}'")
    return found


def placed(activity: ActivityNode, path: str) -> Iterator[tuple[ActivityNode, str]]:
    yield activity, path
    for _, child, place in children_of(activity, path):
        yield from placed(child, place)


def _payloads(kind: ActivityType, inputs: dict[str, Any]) -> Iterable[Any]:
    own = getattr(kind, "trigger_payloads", None)
    return [inputs] if own is None else own(inputs)


def _evaluated(activity: ActivityNode, kind: ActivityType, workshop: Workshop) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for item in kind.descriptor.inputs:
        if item.name not in activity.inputs:
            if item.default is not None:
                given[item.name] = item.default
            continue
        value = activity.inputs[item.name]
        if isinstance(value, Expression):
            value = _value(value, workshop)
        given[item.name] = value if value is None or conforms(value, item.type) else convert(value, item.type)
    return given


def _value(expression: Expression, workshop: Workshop) -> Any:
    """The value of an expression that needs no instance: it is compiled without any names in scope."""
    language = workshop.languages.get(expression.language)
    if language is None:
        raise HoldfastError(f"There is no expression language '${expression.language}'.")
    shape = Shape("~publish", boundary=True)
    return language.compile(expression.source, Names((shape,))).evaluate(shape.open(_NO_INSTANCE))


class _NoInstance:
    """Stands for the missing instance: every access by an expression raises an error."""

    def __getattr__(self, name: str) -> Any:
        raise HoldfastError(f"'{name}' needs an instance, and there is none at publish.")


_NO_INSTANCE: Any = _NoInstance()


def trigger_rows(
    definition: Definition, workshop: Workshop, label: DefinitionVersion, types: TypeRegistry | None = None
) -> list[TriggerRow]:
    """The index rows of a definition that is published as that version."""
    rows = [
        TriggerRow(
            tenant=label.tenant,
            definition_id=definition.id,
            id=f"{activity.id}.{number}",
            content=label.content,
            version=label.version,
            key=key_of(activity.type, _matched(activity, payload, workshop)),
            type=activity.type,
            activity_id=activity.id,
            payload=encode_payload(payload, types),
        )
        for number, (activity, payload) in enumerate(triggers_of(definition, workshop))
    ]
    return [*rows, *awaited_rows(definition, workshop, label)]


def awaited_rows(definition: Definition, workshop: Workshop, label: DefinitionVersion) -> list[TriggerRow]:
    """Index rows for the stimuli that instances of the definition may wait for."""
    return [
        TriggerRow(
            tenant=label.tenant,
            definition_id=definition.id,
            id=f"~{number}",
            content=label.content,
            version=label.version,
            key=key,
            type=AWAITED,
        )
        for number, key in enumerate(sorted(_awaited(definition, workshop)))
    ]


def _matched(activity: ActivityNode, payload: Any, workshop: Workshop) -> Any:
    """The value that a stimulus is matched against: the payload, or `trigger_key(payload)` if the class defines it."""
    kind = workshop.activity_type(activity.type, activity.version)
    own = getattr(getattr(kind, "cls", None), "trigger_key", None)
    return payload if own is None else own(payload)


def _awaited(definition: Definition, workshop: Workshop) -> set[int]:
    return {key for activity in definition.root.walk() for key in _waits_for(activity, workshop)}


def _waits_for(activity: ActivityNode, workshop: Workshop) -> Iterator[int]:
    if activity.type in _WAITS:
        if activity.type == "WaitFor" and activity.inputs.get("broadcast") in (None, False):
            return  # It only waits for addressed events.
        name = activity.inputs.get("event_name")
        yield awaited_key(EVENT, name if isinstance(name, str) else ANY)
        return
    kind = workshop.activity_type(activity.type, activity.version)
    own = getattr(getattr(kind, "cls", None), "__module__", "").startswith("holdfast.activities")
    if kind is not None and (kind.descriptor.trigger or not own):
        yield awaited_key(activity.type)
