"""Check of the names, types and modes that a definition declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.model.checks.survey import Place, Survey, guess
from holdfast.model.commit_strategies import PERIODIC, refusal
from holdfast.model.definition import InputDeclaration, OutputDeclaration, Variable
from holdfast.model.pointers import pointer
from holdfast.model.policy import JournalRule
from holdfast.model.problem import Problem
from holdfast.model.types import BUILT_IN, convert, is_known_type

__all__ = ["check_declarations", "check_own_declarations", "unreachable"]

_FLOWCHART_MODES = ("counter", "token")
_JOURNAL_MODES = ("include", "exclude", "off")

Declared = InputDeclaration | OutputDeclaration | Variable


def unreachable(definition_id: str) -> list[Problem]:
    """URLs are split at slashes, also if written as %2F, and dots are resolved as path segments."""
    if "/" not in definition_id and definition_id not in {".", ".."}:
        return []
    message = f"The id '{definition_id}' cannot be part of a URL."
    return [
        Problem(
            path="/id",
            code="unreachable-id",
            message=message,
            remedy="Use an id without a slash that is neither '.' nor '..'.",
        )
    ]


def check_declarations(survey: Survey) -> None:
    """Check the declarations of the workflow itself."""
    definition, options = survey.definition, survey.definition.options
    survey.problems.extend(unreachable(definition.id))
    _check_names(survey, definition.inputs, "/inputs")
    _check_names(survey, definition.outputs, "/outputs")
    _check_names(survey, definition.variables, "/variables")
    _check_repeats(survey, definition.outcomes, "/outcomes", "outcome")
    _check_mode(survey, options.flowchart_mode, "/options/flowchart_mode", "flowchart mode", _FLOWCHART_MODES)
    _check_mode(survey, options.journal, "/options/journal", "journal mode", _JOURNAL_MODES)
    _check_commit(survey, options.commit, "/options/commit")
    if options.usable_as_activity and not definition.name:
        survey.error(
            "/name",
            "activity-without-name",
            "The workflow is usable as an activity but has no name. The name is the type of the activity.",
            "Add a name.",
        )


def check_own_declarations(survey: Survey, place: Place) -> None:
    """Check the declarations of one activity."""
    options, path = place.node.options, pointer(place.path, "options")
    _check_names(survey, place.node.variables, pointer(place.path, "variables"))
    _check_commit(survey, options.commit, pointer(path, "commit"))
    if options.journal is not None:
        _check_journal(survey, options.journal, pointer(path, "journal"))
    if options.retry is not None and options.retry.attempts < 1:
        survey.error(pointer(path, "retry", "attempts"), "invalid-retry", "Fewer than one attempt.", "Write 1 or more.")
    if options.can_start and place.descriptor is not None and not place.descriptor.trigger:
        survey.warn(
            pointer(path, "can_start"),
            "not-a-trigger",
            f"'{place.node.type}' is not a trigger: no stimulus can start the workflow here.",
            "Leave 'can_start' out, or use a trigger such as Event.",
        )


def _check_names(survey: Survey, declared: Iterable[Declared], path: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(declared):
        here = pointer(path, index)
        if item.name in seen and getattr(item, "id", None) is None:
            survey.error(
                pointer(here, "name"), "duplicate-name", f"'{item.name}' is declared twice.", "Rename one of them."
            )
        seen.add(item.name)
        if not is_known_type(item.type, survey.types):
            survey.error(
                pointer(here, "type"),
                "unknown-value-type",
                f"There is no type '{item.type}'.",
                _types(survey, item.type),
            )
        elif not isinstance(item, OutputDeclaration):
            _check_default(survey, item.default, item.type, pointer(here, "default"))


def _types(survey: Survey, name: str) -> str:
    registered = [survey.types.name_of(cls) for cls in survey.types] if survey.types is not None else []
    return f"{guess(name, [*BUILT_IN, *registered])} A class must be registered: Holdfast(types=[…])."


def _check_default(survey: Survey, default: Any, type_name: str, path: str) -> None:
    if default is None or (survey.types is None and ":" in type_name):
        return
    try:
        convert(default, type_name, survey.types)
    except ValueError as error:
        survey.error(path, "invalid-default", f"The default does not match the type {type_name}.", str(error))


def _check_repeats(survey: Survey, names: Iterable[str], path: str, what: str) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            survey.error(pointer(path, index), "duplicate-name", f"The {what} '{name}' occurs twice.", "Remove one.")
        seen.add(name)


def _check_mode(survey: Survey, mode: str | None, path: str, what: str, known: tuple[str, ...]) -> None:
    if mode is not None and mode not in known:
        survey.error(path, "unknown-mode", f"There is no {what} '{mode}'.", guess(mode, known))


def _check_commit(survey: Survey, name: str | None, path: str) -> None:
    reason = None if name is None else refusal(name, survey.commit_strategies)
    if name is not None and reason is not None:
        code = "invalid-duration" if name.startswith(PERIODIC) else "unknown-mode"
        survey.error(path, code, reason, "Plugins can register more strategies.")


def _check_journal(survey: Survey, rule: JournalRule, path: str) -> None:
    _check_mode(survey, rule.default, pointer(path, "default"), "journal mode", _JOURNAL_MODES)
    for part, modes in (("inputs", rule.inputs), ("outputs", rule.outputs)):
        for name, mode in modes.items():
            _check_mode(survey, mode, pointer(path, part, name), "journal mode", _JOURNAL_MODES)
