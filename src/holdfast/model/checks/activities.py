"""Check of activities against the descriptors of their types."""

from __future__ import annotations

from typing import Any

from holdfast.model.checks.survey import Place, Survey, guess
from holdfast.model.definition import ActivityNode, Expression, PortEntry
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, PortDescriptor, PortKind
from holdfast.model.pointers import pointer
from holdfast.model.types import convert, is_known_type

__all__ = ["check_activity", "check_ids"]


def check_ids(survey: Survey, places: list[Place]) -> None:
    first: dict[str, str] = {}
    for place in places:
        found = first.setdefault(place.node.id, place.path)
        if found != place.path:
            survey.error(
                pointer(place.path, "id"),
                "duplicate-id",
                f"The id '{place.node.id}' is already used by the activity at {found}.",
                "Change one of the ids.",
            )


def check_activity(survey: Survey, place: Place) -> None:
    descriptor = place.descriptor
    if descriptor is None:
        _report_unknown_type(survey, place)
        return
    if place.node.version > descriptor.version:
        survey.warn(
            pointer(place.path, "version"),
            "unknown-version",
            f"'{descriptor.type}' is known up to version {descriptor.version}, not {place.node.version}.",
            f"Version {descriptor.version} will run; register the newer version or correct the number.",
        )
    _check_inputs(survey, place, descriptor)
    _check_outputs(survey, place, descriptor)
    _check_ports(survey, place, descriptor)


def _report_unknown_type(survey: Survey, place: Place) -> None:
    survey.error(
        pointer(place.path, "type"),
        "unknown-type",
        f"Activity '{place.node.id}' has the unknown type '{place.node.type}'.",
        f"{_near_type(place.node.type, survey)}Register it with Holdfast(activities=[…]) or a plugin, or correct the type.",
    )


def _near_type(name: str, survey: Survey) -> str:
    by_short = {known.rpartition(".")[2].lower(): known for known in survey.descriptors}
    exact = by_short.get(name.rpartition(".")[2].lower())
    if exact is not None:
        return f"Did you mean '{exact}'? "
    near = guess(name, survey.descriptors)
    return f"{near} " if near.startswith("Did") else ""


def _check_inputs(survey: Survey, place: Place, descriptor: ActivityDescriptor) -> None:
    known = {descriptor.spelled(item.name): item for item in descriptor.inputs}
    given = {descriptor.spelled(name) for name, value in place.node.inputs.items() if value is not None}
    for name, value in place.node.inputs.items():
        here = pointer(place.path, "inputs", name)
        item = known.get(descriptor.spelled(name))
        if item is None:
            names = [item.name for item in descriptor.inputs]
            survey.error(here, "unknown-input", f"'{descriptor.type}' has no input '{name}'.", guess(name, names))
        else:
            _check_literal(survey, value, item, here)
    for item in descriptor.inputs:
        if item.required and item.default is None and descriptor.spelled(item.name) not in given:
            survey.error(
                pointer(place.path, "inputs", item.name),
                "missing-input",
                f"'{descriptor.type}' needs the input '{item.name}'.",
                f"Give it a value of type {item.type}, or an expression.",
            )


def _check_literal(survey: Survey, value: Any, item: InputDescriptor, path: str) -> None:
    literal = value.source if isinstance(value, Expression) and value.language == "literal" else value
    if literal is None or isinstance(literal, Expression) or not is_known_type(item.type, survey.types):
        return
    if survey.types is None and ":" in item.type:
        return
    try:
        convert(literal, item.type, survey.types)
    except ValueError as error:
        survey.error(path, "invalid-literal", f"The input '{item.name}' must be of type {item.type}.", str(error))


def _check_outputs(survey: Survey, place: Place, descriptor: ActivityDescriptor) -> None:
    known = [item.name for item in descriptor.outputs]
    for name, target in place.node.outputs.items():
        here = pointer(place.path, "outputs", name)
        if descriptor.spelled(name) not in map(descriptor.spelled, known):
            survey.error(here, "unknown-output", f"'{descriptor.type}' has no output '{name}'.", guess(name, known))
        if place.certain and place.names.target(target) is None:
            outputs = [output.name for output in survey.definition.outputs]
            survey.error(
                here,
                "unknown-target",
                f"'{target}' is neither a variable in scope nor an output of the workflow.",
                f"Declare it. {guess(target, [*place.names.visible(), *outputs])}",
            )


def _check_ports(survey: Survey, place: Place, descriptor: ActivityDescriptor) -> None:
    known = {port.name: port for port in descriptor.ports}
    for name, children in place.node.ports.items():
        here = pointer(place.path, name)
        if name in known:
            _check_port_kind(survey, children, known[name].kind, here)
            _check_keys(survey, children, known[name], here)
        elif children != ():
            survey.error(here, "unknown-port", f"'{descriptor.type}' has no port '{name}'.", guess(name, known))
    for name, value in place.node.extra.items():
        if name in known and value is not None:
            survey.error(
                pointer(place.path, name),
                "missing-type",
                f"The port '{name}' holds no activity: its value has no 'type'.",
                "Write an activity with a 'type'.",
            )
        elif name not in known and descriptor.input(name) is not None:
            survey.error(
                pointer(place.path, name),
                "misplaced-input",
                f"The input '{name}' is outside of 'inputs'.",
                "Move it into 'inputs'.",
            )


def _check_keys(survey: Survey, children: Any, port: PortDescriptor, path: str) -> None:
    """An activity under an unknown key would be dropped silently. Unknown data may be annotations of an editor."""
    if not port.keys or not isinstance(children, tuple):
        return
    for number, entry in enumerate(children):
        if not isinstance(entry, PortEntry):
            continue
        for key in sorted(entry.activities.keys() - set(port.keys)):
            message = f"Entries of '{port.name}' have no '{key}', so this activity would never run."
            survey.error(pointer(path, number, key), "unknown-key", message, guess(key, port.keys))
        for key in sorted(entry.data.keys() - {*port.keys, "metadata"}):
            message = f"Entries of '{port.name}' have no '{key}', so this value is ignored."
            survey.warn(pointer(path, number, key), "unknown-key", message, guess(key, port.keys))


_WANTED = {PortKind.ONE: "one activity", PortKind.MANY: "a list of activities", PortKind.ENTRIES: "a list of entries"}


def _check_port_kind(survey: Survey, children: Any, kind: PortKind, path: str) -> None:
    if isinstance(children, ActivityNode):
        found = PortKind.ONE
    elif isinstance(children, tuple) and children and isinstance(children[0], PortEntry):
        found = PortKind.ENTRIES
    else:
        found = PortKind.MANY
    if found is kind or children == ():
        return
    if kind is PortKind.MANY and found is PortKind.ENTRIES:
        survey.error(path, "missing-type", "Not every activity here has a 'type'.", "Add the missing 'type'.")
    else:
        survey.error(path, "wrong-port-kind", f"The port holds {_WANTED[found]}.", f"It needs {_WANTED[kind]}.")
