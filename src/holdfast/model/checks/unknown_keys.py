"""Check for unknown keys that are probably mistakes.

A document may have keys of other tools, which are kept as `extra`. A key that is a misspelling of a known key, or an option
outside of `options`, is a mistake that would silently change the workflow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from msgspec.structs import fields

from holdfast.model.checks.survey import Place, Survey
from holdfast.model.definition import DefinitionOptions
from holdfast.model.pointers import pointer
from holdfast.model.policy import ActivityOptions

__all__ = ["check_keys_of_activity", "check_keys_of_definition"]

_DEFINITION_KEYS = ("format", "inputs", "outputs", "variables", "outcomes", "root", "options", "labels", "metadata")
_ACTIVITY_KEYS = ("inputs", "outputs", "variables", "options", "metadata")
_DEFINITION_OPTIONS = frozenset(field.encode_name for field in fields(DefinitionOptions))
_ACTIVITY_OPTIONS = frozenset(field.encode_name for field in fields(ActivityOptions))

_NEAR = 0.8
"""Similarity that counts as a misspelling: `inptus` matches `inputs`, `note` does not match `name`."""


def check_keys_of_definition(survey: Survey) -> None:
    _check(survey, survey.definition.extra, "", _DEFINITION_KEYS, _DEFINITION_OPTIONS)


def check_keys_of_activity(survey: Survey, place: Place) -> None:
    _check(survey, place.node.extra, place.path, _ACTIVITY_KEYS, _ACTIVITY_OPTIONS)


def _check(survey: Survey, extra: Iterable[str], path: str, known: Collection[str], options: Collection[str]) -> None:
    for key in extra:
        here, close = pointer(path, key), get_close_matches(key, known, n=1, cutoff=_NEAR)
        if key in options:
            survey.error(
                here, "misplaced-option", f"The option '{key}' is outside of 'options'.", "Move it into 'options'."
            )
        elif close:
            survey.warn(here, "unknown-key", f"The key '{key}' is ignored.", f"Did you mean '{close[0]}'?")
