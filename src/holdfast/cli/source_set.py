"""Several sources as one set: all problems are reported at once, and any problem refuses the whole set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.cli.failures import BadDocument, BadDocuments, BadInput
from holdfast.cli.source_problems import problems_of
from holdfast.cli.sources import open_source, places_of, publishable, runnable
from holdfast.engine import Holdfast
from holdfast.errors import HoldfastError
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem

UNREADABLE = "unreadable"
"""Path of a problem without a document: the message names the file."""


class Checked(NamedTuple):
    definition: Definition
    is_document: bool


def publishable_together(named: Iterable[str], engine: Holdfast, so: str) -> dict[str, Checked]:
    """The definitions by place. They may use each other; `so` names the action that did not happen after a refusal."""
    found: dict[str, Checked] = {}
    problems: dict[str, list[Problem]] = {}
    sources = {}
    for place in dict.fromkeys(place for name in named for place in places_of(name)):
        try:
            sources[place] = open_source(place)
            engine.definitions.add(runnable(sources[place], engine))
        except BadInput as error:
            problems[place] = _problems_in(error)
    for place, source in sources.items():
        if place not in problems:
            try:
                found[place] = Checked(publishable(source, engine), source.is_document)
            except BadInput as error:
                problems[place] = _problems_in(error)
    _refuse(problems, so)
    return found


def refuse_all(refusals: Mapping[str, HoldfastError], so: str) -> None:
    _refuse({place: problems_of(error) for place, error in refusals.items()}, so)


def _refuse(problems: Mapping[str, list[Problem]], so: str) -> None:
    if len(problems) == 1 and (only := next(iter(problems.values())))[0].code == UNREADABLE:
        raise BadInput(f"{only[0].message} {so}")
    if problems:
        raise BadDocuments([(place, problem) for place, found in problems.items() for problem in found], so)


def _problems_in(error: BadInput) -> list[Problem]:
    if isinstance(error, BadDocument):
        return list(error.problems)
    return [Problem(path="", code=UNREADABLE, message=error.message, remedy="")]
