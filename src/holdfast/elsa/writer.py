"""Writer of Elsa 3 documents."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.elsa.activity_writer import write_activity
from holdfast.elsa.declarations import write_input, write_output, write_variable
from holdfast.elsa.names import Declared
from holdfast.elsa.properties import OURS, write_definition_options
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json, restore
from holdfast.model.definition import Definition
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem

SCHEMA = "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json"
TOOL_VERSION = "3.6.0.0"
"""Tells Elsa to name output accessors after activity names, as its current versions do."""


def write_elsa(definition: Definition) -> tuple[Json, list[Problem]]:
    """The document, and all problems of the conversion.

    Nothing is lost: data that Elsa has no place for is stored under `customProperties.holdfast`, and `read_elsa`
    restores it.
    """
    reports = Reports()
    document = restore(definition_shell(definition, reports), definition.metadata.get("elsa", {}))
    document["root"] = write_activity(definition.root, Declared.of(definition), reports, "/root")
    return document, reports.problems


def definition_shell(definition: Definition, reports: Reports) -> Json:
    """The canonical document, without its root."""
    options, properties = write_definition_options(definition.options)
    own = _own(definition, properties.pop(OURS, {}), reports)
    if own:
        properties[OURS] = own
    shell: Json = {
        "$schema": SCHEMA,
        "id": f"{definition.id}:{definition.version}",
        "definitionId": definition.id,
        "version": definition.version,
        "toolVersion": TOOL_VERSION,
        "variables": [write_variable(variable) for variable in definition.variables],
        "inputs": [
            write_input(declared, reports, pointer("/inputs", index))
            for index, declared in enumerate(definition.inputs)
        ],
        "outputs": [write_output(declared) for declared in definition.outputs],
        "outcomes": list(definition.outcomes),
        "customProperties": properties,
        "isReadonly": False,
        "isLatest": True,
        "isPublished": False,
        "options": options,
    }
    for key, value in (("name", definition.name), ("description", definition.description)):
        if value is not None:
            shell[key] = value
    return shell


def _own(definition: Definition, options: Json, reports: Reports) -> Json:
    """Data that Elsa has no place for."""
    own: Json = dict(options)
    parts: dict[str, Any] = {
        "labels": list(definition.labels),
        "metadata": {key: value for key, value in definition.metadata.items() if key != "elsa"},
        "extra": dict(definition.extra),
    }
    own.update({name: msgspec.to_builtins(value) for name, value in parts.items() if value})
    if own:
        reports.warning(
            "",
            "not-in-elsa",
            f"Elsa has no place for the definition's {', '.join(own)}.",
            "They are stored in customProperties and restored on re-import; Elsa ignores them.",
        )
    return own
