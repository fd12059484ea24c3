"""Validation of a definition: reports all problems as data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from holdfast.model.checks.activities import check_activity, check_ids
from holdfast.model.checks.declarations import check_declarations, check_own_declarations
from holdfast.model.checks.expressions import check_expressions
from holdfast.model.checks.flowcharts import check_flowchart
from holdfast.model.checks.survey import Language, Survey
from holdfast.model.checks.times import check_times
from holdfast.model.checks.unknown_keys import check_keys_of_activity, check_keys_of_definition
from holdfast.model.cron import CRON
from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.problem import Problem
from holdfast.model.schedule import Calendar
from holdfast.model.values import TypeRegistry

__all__ = ["Language", "validate"]


def validate(
    definition: Definition,
    *,
    descriptors: Mapping[str, ActivityDescriptor],
    languages: Mapping[str, Language] | None = None,
    types: TypeRegistry | None = None,
    trusted: bool = False,
    commit_strategies: Collection[str] = (),
    find: Callable[[ActivityNode], ActivityDescriptor | None] | None = None,
    calendar: Calendar = CRON,
) -> list[Problem]:
    """Errors prevent execution, warnings do not.

    `descriptors` has the latest descriptor of each activity type. Without `languages`, expressions are not compiled.
    Without `types`, class names are not checked. `trusted` allows `$code`. `find` describes activities whose type has no
    descriptor: workflows used as activities. `calendar` parses cron expressions.
    """
    survey = Survey(definition, descriptors, languages, types, trusted, commit_strategies, find, calendar)
    places = list(survey.places())
    check_declarations(survey)
    check_keys_of_definition(survey)
    check_ids(survey, places)
    for place in places:
        check_own_declarations(survey, place)
        check_keys_of_activity(survey, place)
        check_activity(survey, place)
        check_expressions(survey, place)
        check_flowchart(survey, place)
        check_times(survey, place)
    return survey.problems
