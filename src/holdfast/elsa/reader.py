"""Reader of Elsa 3 documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from holdfast.elsa.activity_reader import ActivityReader
from holdfast.elsa.activity_writer import OWN_TYPES
from holdfast.elsa.declarations import read_inputs, read_outputs, read_variables
from holdfast.elsa.names import Declared
from holdfast.elsa.normalize import as_list, as_text, lowered, normal_root, unwrapped_not_found
from holdfast.elsa.properties import own_part, own_properties, read_definition_options
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import difference
from holdfast.elsa.shapes import is_workflow_activity
from holdfast.elsa.table import row_for_elsa
from holdfast.elsa.writer import definition_shell
from holdfast.errors import ConversionError, InvalidDefinition
from holdfast.model.definition import Definition, Variable
from holdfast.model.problem import Problem, errors_in

Document = Mapping[str, Any] | str | bytes
"""Parsed JSON, or its text (a byte order mark is ignored)."""

_TELLTALES = frozenset({"definitionId", "toolVersion", "isPublished", "isLatest", "isReadonly", "usableAsActivity"})


def is_elsa(document: Document) -> bool:
    """Whether this looks like an Elsa 3 workflow definition (and not like a Holdfast definition)."""
    try:
        parsed = _parsed(document)
    except ConversionError:
        return False
    fields = lowered(parsed)
    root = fields.get("root")
    if not isinstance(root, Mapping) or str(fields.get("format", "")).startswith("holdfast/"):
        return False
    root_fields = lowered(root)
    named = str(root_fields.get("type", "")).startswith("Elsa.") or is_workflow_activity(root_fields)
    return named or bool(_TELLTALES & fields.keys()) or "elsaworkflows" in str(fields.get("$schema", ""))


def parse_elsa(document: Document) -> Definition:
    """The definition of an Elsa document.

    Raises `ConversionError` for a document that is not from Elsa, and `InvalidDefinition` with all problems for a
    workflow that cannot run. `read_elsa` returns both the definition and the problems.
    """
    if not is_elsa(document):
        raise ConversionError(
            "This is not an Elsa 3 workflow definition: it needs a `root` activity, such as an Elsa.Flowchart. "
            "Export it from Elsa as JSON, or use a Holdfast definition."
        )
    definition, problems = read_elsa(document)
    errors = errors_in(problems)
    if definition is None or errors:
        raise InvalidDefinition(errors or problems, name=definition.title if definition else "the Elsa document")
    return definition


def read_elsa(document: Document) -> tuple[Definition | None, list[Problem]]:
    """The definition, and all problems of the conversion.

    Nothing is lost: data without a counterpart is kept under `metadata["elsa"]`, and `write_elsa` restores it. The
    definition is None only if there is no root activity.
    """
    reports = Reports()
    try:
        fields = normal_root(_parsed(document))
    except ConversionError as error:
        reports.error("", "not-elsa", str(error), "Use the JSON of a workflow definition.")
        return None, reports.problems
    root = fields.get("root")
    if not isinstance(root, Mapping) or not lowered(root).get("type"):
        reports.error(
            "/root", "no-root", "The document has no root activity.", "Export the whole definition from Elsa."
        )
        return None, reports.problems
    return _read(fields, root, reports), reports.problems


def _read(fields: dict[str, Any], root: Mapping[str, Any], reports: Reports) -> Definition:
    outputs = read_outputs(as_list(fields.get("outputs")), reports, "/outputs")
    variables = read_variables(as_list(fields.get("variables")), reports, "/variables")
    names = Declared([*variables, *_inner_variables(root)], [output.name for output in outputs])
    properties = fields.get("customProperties")
    properties = properties if isinstance(properties, Mapping) else {}
    options = fields.get("options")
    definition = Definition(
        id=_identity(fields),
        root=ActivityReader(names, reports, set(_ids(root))).read(root, "/root"),
        name=as_text(fields.get("name")),
        version=fields["version"] if isinstance(fields.get("version"), int) else 1,
        description=as_text(fields.get("description")),
        inputs=read_inputs(as_list(fields.get("inputs")), reports, "/inputs"),
        outputs=outputs,
        variables=variables,
        outcomes=tuple(str(outcome) for outcome in as_list(fields.get("outcomes"))),
        options=read_definition_options(options if isinstance(options, Mapping) else {}, properties, reports),
        labels=tuple(str(label) for label in as_list(own_properties(properties).get("labels"))),
        metadata=dict(own_part(properties, "metadata")),
        extra=dict(own_part(properties, "extra")),
    )
    shell = {key: value for key, value in fields.items() if key != "root"}
    residue = difference(definition_shell(definition, Reports()), shell)
    if isinstance(fields.get("id"), str):
        residue["id"] = fields["id"]  # id of this version, to which other workflows may refer
    return msgspec.structs.replace(definition, metadata={**definition.metadata, "elsa": residue})


def _parsed(document: Document) -> Mapping[str, Any]:
    if isinstance(document, Mapping):
        return document
    try:
        text = document.decode("utf-8-sig") if isinstance(document, bytes) else document.removeprefix("\ufeff")
        parsed = json.loads(text)
    except ValueError as error:
        raise ConversionError(f"The document is not JSON: {error}.") from error
    if not isinstance(parsed, Mapping):
        raise ConversionError("The document is not a JSON object.")
    return parsed


def _identity(fields: Mapping[str, Any]) -> str:
    """The definition's id. A document without an id gets a stable one, derived from its content."""
    for key in ("definitionId", "id", "name"):
        if fields.get(key):
            return str(fields[key])
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _inner_variables(activity: Mapping[str, Any]) -> Iterator[Variable]:
    """Variables that containers declare, as far as the activities above them are known."""
    fields = lowered(unwrapped_not_found(activity))
    type_name = str(fields.get("type") or "")
    if row_for_elsa(type_name) is None and not type_name.startswith(OWN_TYPES):
        return
    declared = [lowered(item) for item in as_list(fields.get("variables")) if isinstance(item, Mapping)]
    yield from read_variables(declared, Reports(), "")
    for key, value in fields.items():
        if key not in ("customProperties", "metadata", "variables"):
            yield from _variables_below(value)


def _variables_below(value: Any) -> Iterator[Variable]:
    if isinstance(value, Mapping) and "type" in lowered(value):
        yield from _inner_variables(value)
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for item in items:
        if isinstance(item, Mapping | list) and not (isinstance(value, Mapping) and "type" in lowered(value)):
            yield from _variables_below(item)


def _ids(value: Any) -> Iterator[str]:
    """All ids in the document, so that generated ids do not repeat them."""
    if isinstance(value, Mapping):
        found = value.get("id", value.get("Id"))
        if isinstance(found, str):
            yield found
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for item in items:
        yield from _ids(item)
