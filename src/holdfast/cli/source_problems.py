"""All problems of one source: from reading, validation and compilation."""

from __future__ import annotations

from holdfast.cli.sources import Source, read_source
from holdfast.engine import Holdfast
from holdfast.errors import HoldfastError
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem, errors_in


def check(source: Source, engine: Holdfast) -> list[Problem]:
    try:
        definition, problems = read_source(source, engine)
        if definition is None:
            return problems
        problems = [*problems, *engine.validate(definition)]
    except HoldfastError as error:
        return problems_of(error)
    return problems if errors_in(problems) else [*problems, *_compile(definition, engine)]


def _compile(definition: Definition, engine: Holdfast) -> list[Problem]:
    try:
        engine.plan(definition)
    except HoldfastError as error:
        return problems_of(error)
    return []


def problems_of(error: HoldfastError) -> list[Problem]:
    known = getattr(error, "problems", ())
    return list(known) or [Problem(path="", code="cannot-run", message=str(error), remedy="")]
