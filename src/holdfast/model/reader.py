"""Reader of definitions in JSON: reports all problems at once and never raises on malformed input."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.errors import InvalidDefinition
from holdfast.model.definition import (
    ActivityNode,
    Definition,
    DefinitionOptions,
    InputDeclaration,
    OutputDeclaration,
    Variable,
)
from holdfast.model.parse.findings import Findings, kind_of
from holdfast.model.parse.nodes import has_type, read_activity, read_object
from holdfast.model.parse.records import read_record, read_records
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem, errors_in
from holdfast.model.upgrades import bring_up_to_date
from holdfast.model.values import TypeRegistry

__all__ = ["parse_definition", "read_definition", "read_node", "read_text"]

MAX_DEPTH = 200
"""Maximum nesting of a document; hand-written documents use about a tenth."""

ROOT_KEYS = (
    "format",
    "id",
    "name",
    "version",
    "description",
    "inputs",
    "outputs",
    "variables",
    "outcomes",
    "root",
    "options",
    "labels",
    "metadata",
)

_ROOT_REMEDY = 'Give an object with a \'type\', such as {"type": "Sequence", "activities": []}.'


def read_definition(
    document: Any, *, types: TypeRegistry | None = None, trusted: bool = False
) -> tuple[Definition | None, list[Problem]]:
    """The definition as far as it is readable, and all problems of the document.

    None if there is no root activity. Only the code provider of a running process passes `trusted`, which allows `$code`.
    """
    early = _look_over(document)
    if early is not None:
        return None, [early]
    current, problems = bring_up_to_date(document)
    if current is None:
        return None, problems
    findings = Findings(types, trusted=trusted, used_ids=_ids_in(current))
    root = _read_root(current, findings)
    definition = _read_fields(current, root, findings)
    findings.storable(definition.id, "id", "/id")
    findings.storable(definition.name or "", "name", "/name")
    return (definition if root is not None else None), findings.problems


def parse_definition(document: Any, *, types: TypeRegistry | None = None, trusted: bool = False) -> Definition:
    """Raises `InvalidDefinition` with all errors."""
    definition, problems = read_definition(document, types=types, trusted=trusted)
    mistakes = errors_in(problems)
    if definition is None or mistakes:
        raise InvalidDefinition(mistakes, name=definition.title if definition else "the definition")
    return definition


def read_text(
    text: str | bytes, *, types: TypeRegistry | None = None, trusted: bool = False
) -> tuple[Definition | None, list[Problem]]:
    """Like `read_definition`, for JSON text with or without a byte order mark."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        document = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, [_problem("", "not-json", f"The text is not JSON: {error}.", "Correct the text at that position.")]
    except RecursionError:
        return None, [_too_deep()]
    return read_definition(document, types=types, trusted=trusted)


def read_node(
    document: Any, *, path: str = "", types: TypeRegistry | None = None, trusted: bool = False
) -> tuple[ActivityNode | None, list[Problem]]:
    """One activity with its children, as an editor sends it."""
    if _is_too_deep(document):
        return None, [_too_deep()]
    if not has_type(document):
        message = f"An activity is an object with a 'type', not {kind_of(document)} without one."
        return None, [_problem(path, "missing-type", message, _ROOT_REMEDY)]
    findings = Findings(types, trusted=trusted, used_ids=_ids_in(document))
    return read_activity(document, path, findings), findings.problems


# -- the document ------------------------------------------------------------------------------------------------------


def _look_over(document: Any) -> Problem | None:
    if not isinstance(document, dict):
        return _problem("", "not-an-object", f"A definition is an object, not {kind_of(document)}.", "Write {…}.")
    if _is_too_deep(document):
        return _too_deep()
    if "format" not in document and "definitionId" in document:
        return _problem(
            "",
            "elsa-document",
            "This looks like a definition of Elsa 3.",
            "Convert it first: holdfast convert FILE, or holdfast.elsa.",
        )
    return None


def _read_root(document: dict[str, Any], findings: Findings) -> ActivityNode | None:
    raw = document.get("root")
    if has_type(raw):
        return read_activity(document["root"], "/root", findings)
    if isinstance(raw, dict):
        findings.add("/root", "missing-type", "The root activity has no 'type'.", _ROOT_REMEDY)
    elif raw is None:
        findings.add("/root", "missing-root", "The definition has no root activity.", _ROOT_REMEDY)
    else:
        findings.wrong_kind("/root", "The root", "an activity", raw)
    return None


_NOTHING = ActivityNode(id="", type="")


def _read_fields(document: dict[str, Any], root: ActivityNode | None, findings: Findings) -> Definition:
    name = _read_text(document, "name", findings)
    return Definition(
        id=_read_id(document, name, findings),
        name=name,
        version=_read_version(document, findings),
        description=_read_text(document, "description", findings),
        inputs=read_records(InputDeclaration, document.get("inputs"), "/inputs", findings),
        outputs=read_records(OutputDeclaration, document.get("outputs"), "/outputs", findings),
        variables=read_records(Variable, document.get("variables"), "/variables", findings),
        outcomes=_read_texts(document, "outcomes", findings),
        root=root or _NOTHING,
        options=_read_options(document, findings),
        labels=_read_texts(document, "labels", findings),
        metadata=read_object(document.get("metadata"), "/metadata", findings),
        extra={key: value for key, value in document.items() if key not in ROOT_KEYS},
    )


def _read_options(document: dict[str, Any], findings: Findings) -> DefinitionOptions:
    raw = document.get("options")
    read = read_record(DefinitionOptions, {} if raw is None else raw, "/options", findings)
    return read or DefinitionOptions()


def _read_id(document: dict[str, Any], name: str | None, findings: Findings) -> str:
    found = document.get("id")
    if isinstance(found, str) and found:
        return found
    if found is not None:
        findings.wrong_kind("/id", "The id", "text that is not empty", found)
        return ""
    slug = re.sub(r"[^\w]+", "-", name or "").strip("-").lower()
    if not slug:
        findings.add("", "missing-id", "The definition has neither an id nor a name.", "Add an 'id'.")
    return slug


def _read_version(document: dict[str, Any], findings: Findings) -> int:
    found = document.get("version")
    if found is None:
        return 1
    if isinstance(found, int) and not isinstance(found, bool) and found >= 1:
        return found
    findings.wrong_kind("/version", "The version", "a whole number from 1", found)
    return 1


def _read_text(document: dict[str, Any], key: str, findings: Findings) -> str | None:
    found = document.get(key)
    if found is None or isinstance(found, str):
        return found
    findings.wrong_kind(pointer("", key), f"The {key}", "text", found)
    return None


def _read_texts(document: dict[str, Any], key: str, findings: Findings) -> tuple[str, ...]:
    found = document.get(key)
    if found is None:
        return ()
    if isinstance(found, list) and all(isinstance(item, str) for item in found):
        return tuple(found)
    findings.wrong_kind(pointer("", key), f"'{key}'", "a list of names", found)
    return ()


# -- nesting and ids ---------------------------------------------------------------------------------------------------


def _is_too_deep(document: Any) -> bool:
    """Iterates level by level: it protects the recursive functions, so it must not recurse itself."""
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, (dict, list))]


def _ids_in(document: Any) -> set[str]:
    """Every id in the document, so that a generated id is never a duplicate."""
    found: set[str] = set()
    level = [document]
    while level:
        found.update(item["id"] for item in level if isinstance(item, dict) and isinstance(item.get("id"), str))
        level = [inner for item in level for inner in _inside(item)]
    return found


def _too_deep() -> Problem:
    return _problem(
        "",
        "too-deep",
        f"The document is nested deeper than {MAX_DEPTH} levels.",
        "Split it: move a part to a workflow of its own and use that as an activity.",
    )


def _problem(path: str, code: str, message: str, remedy: str) -> Problem:
    return Problem(path=path, code=code, message=message, remedy=remedy)
