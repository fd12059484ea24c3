"""Sources of workflows: a Holdfast or Elsa 3 file, or a name in a module; and their form in a state file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.cli.documents import STDIN, read_document
from holdfast.cli.failures import BadDocument, BadInput, as_bad_input
from holdfast.cli.references import has_code, is_reference, load_workflow
from holdfast.engine import Holdfast
from holdfast.errors import HoldfastError
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem, errors_in
from holdfast.model.reader import read_definition

STATE_FORMAT = "holdfast/run@1"


@dataclass(frozen=True, slots=True)
class Source:
    place: str
    """The file or `module:name`, for messages."""
    workflow: Any
    """The document, or the named object."""
    is_document: bool

    def saved(self) -> dict[str, Any]:
        """The document itself, which makes a state file self-contained; code is stored as a reference."""
        return {"file": self.place, "document": self.workflow} if self.is_document else {"reference": self.place}


def modules_of(source: Source) -> tuple[str, ...]:
    """Modules whose code the workflow needs in another process."""
    name = source.place.rpartition(":")[0]
    return () if source.is_document or not has_code(name) else (name,)


def open_source(text: str) -> Source:
    if not Path(text).exists() and is_reference(text):
        return Source(text, load_workflow(text), is_document=False)
    if text.endswith(".py"):
        raise BadInput(f"'{text}' is a Python file. Name the workflow in it: {text}:NAME.")
    if text != STDIN and not Path(text).exists():
        raise BadInput(f"There is no file '{text}'. Name a JSON or YAML file, or module:name for a workflow in Python.")
    document = read_document(text)
    if isinstance(document, dict) and document.get("format") == STATE_FORMAT:
        raise BadInput(f"'{text}' is the state of a run. Resume it: holdfast resume --state {text}")
    return Source("stdin" if text == STDIN else text, document, is_document=True)


def places_of(text: str) -> list[str]:
    """All files of a folder and its subfolders; otherwise the text itself."""
    from holdfast.management.definitions.providers.files import SUFFIXES, document_files

    if not Path(text).is_dir():
        return [text]
    found = [str(path) for path in document_files(Path(text))]
    if not found:
        raise BadInput(
            f"The folder '{text}' contains no definition. Name a folder with files that end in {', '.join(SUFFIXES)}."
        )
    return found


def load_source(saved: Mapping[str, Any]) -> Source:
    if "reference" in saved:
        return Source(saved["reference"], load_workflow(saved["reference"]), is_document=False)
    return Source(saved["file"], saved["document"], is_document=True)


def read_source(source: Source, engine: Holdfast) -> tuple[Definition | None, list[Problem]]:
    """The definition as far as it is readable, and all problems found by the reader."""
    if isinstance(source.workflow, Mapping):
        from holdfast.elsa import is_elsa, read_elsa

        return read_elsa(source.workflow) if is_elsa(source.workflow) else read_definition(source.workflow)
    if source.is_document:
        return read_definition(source.workflow)
    return engine.definition(source.workflow), []


def runnable(source: Source, engine: Holdfast) -> Definition:
    """The definition; `BadInput` with all problems if it has errors."""
    with with_place(source.place):
        definition, problems = read_source(source, engine)
    errors = errors_in(problems)
    if definition is None or errors:
        raise BadDocument(source.place, errors or problems)
    return definition


def publishable(source: Source, engine: Holdfast) -> Definition:
    """The definition, valid and compiled, so that it can be published."""
    definition = runnable(source, engine)
    with with_place(source.place):
        errors = errors_in(engine.validate(definition))
        if errors:
            raise BadDocument(source.place, errors)
        engine.plan(definition)
    return definition


@contextmanager
def with_place(place: str) -> Iterator[None]:
    """Adds the place to errors of the engine."""
    try:
        yield
    except HoldfastError as error:
        raise as_bad_input(error, place) from error
