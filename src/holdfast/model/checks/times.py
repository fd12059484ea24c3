"""Check of literal times: cron expressions, zones, intervals, timeouts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast.errors import InvalidCron
from holdfast.model.checks.survey import Place, Survey, guess
from holdfast.model.cron import find_zone
from holdfast.model.definition import Expression
from holdfast.model.pointers import pointer
from holdfast.model.schedule import Misfire
from holdfast.model.types import convert

__all__ = ["check_times"]

_NONE = timedelta(0)
_ZONE = "Write it as Europe/Berlin or UTC."


def check_times(survey: Survey, place: Place) -> None:
    match place.node.type:
        case "Cron":
            _check_cron(survey, place)
            _check_misfire(survey, place)
        case "Timer":
            _check_length(survey, place, "interval", "above zero", least=timedelta.resolution)
            _check_misfire(survey, place)
        case "Delay":
            _check_length(survey, place, "duration", "zero or more", least=_NONE)
    _check_options(survey, place)


def _check_cron(survey: Survey, place: Place) -> None:
    zone = _literal(place, "zone")
    zone = zone if isinstance(zone, str) and zone else "UTC"
    try:
        find_zone(zone)
    except InvalidCron:
        _report(survey, place, "zone", "invalid-zone", f"There is no time zone '{zone}'", _ZONE)
        zone = "UTC"
    expression = _literal(place, "expression")
    if not isinstance(expression, str):
        return
    try:
        survey.calendar.check(expression, zone)
    except InvalidCron as error:
        _report(survey, place, "expression", "invalid-cron", "The cron expression has no due times", str(error))


def _check_misfire(survey: Survey, place: Place) -> None:
    policy, most = _literal(place, "misfire"), _literal(place, "catch_up_max")
    if isinstance(policy, str) and policy not in list(Misfire):
        _report(
            survey,
            place,
            "misfire",
            "unknown-mode",
            f"There is no misfire policy '{policy}'",
            guess(policy, list(Misfire)),
        )
    if isinstance(most, int) and most < 1:
        _report(survey, place, "catch_up_max", "invalid-limit", "The limit is below 1", "Write 1 or more.")


def _check_length(survey: Survey, place: Place, name: str, wanted: str, *, least: timedelta) -> None:
    value = _literal(place, name)
    try:
        length = timedelta(seconds=value) if isinstance(value, int | float) else convert(value, "duration")
    except (ValueError, OverflowError):
        return  # The check of literals has reported it.
    if length is not None and length < least:
        _report(survey, place, name, "invalid-duration", f"The {name} must be {wanted}", "Write it like PT30S.")


def _check_options(survey: Survey, place: Place) -> None:
    options = place.node.options
    if options.timeout is not None and options.timeout <= _NONE:
        _report_length(survey, pointer(place.path, "options", "timeout"), "The timeout must be above zero.")
    if options.retry is not None and options.retry.delay < _NONE:
        _report_length(survey, pointer(place.path, "options", "retry", "delay"), "The delay must be zero or more.")
    for index, connection in enumerate(place.node.connections):
        if connection.delay is not None and connection.delay < _NONE:
            here = pointer(place.path, "connections", index, "delay")
            _report_length(survey, here, "The delay must be zero or more.")


def _report(survey: Survey, place: Place, name: str, code: str, message: str, remedy: str) -> None:
    survey.error(pointer(place.path, "inputs", name), code, f"{message}.", remedy)


def _report_length(survey: Survey, path: str, message: str) -> None:
    survey.error(path, "invalid-duration", message, "Write it like PT30S.")


def _literal(place: Place, name: str) -> Any:
    """The literal value of an input; None for expressions."""
    value = place.node.inputs.get(name)
    if isinstance(value, Expression):
        return value.source if value.language == "literal" else None
    return value
