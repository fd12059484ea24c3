"""The log of a process that is ours: words or JSON, on stderr, with the engine's own events from a level on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import click

from holdfast import telemetry
from holdfast.settings import LogFormat, LogLevel, Settings

F = TypeVar("F", bound=Callable[..., Any])


def log_options(function: F) -> F:
    """`--log-format` and `--log-level`."""
    for name, choices in (("format", LogFormat), ("level", LogLevel)):
        function = click.option(
            f"--log-{name}", type=click.Choice([item.value for item in choices]), help=f"The setting `log_{name}`."
        )(function)
    return function


def set_up_logs(settings: Settings, form: str | None, level: str | None) -> None:
    """What the options say, else the settings."""
    number = logging.getLevelNamesMapping()[(level or settings.log_level.value).upper()]
    handler = logging.StreamHandler()
    if (form or settings.log_format) == LogFormat.JSON:
        from holdfast.integrations.json_logs import JsonFormatter

        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=number, handlers=[handler], force=True)
    told = [event.name for event in telemetry.EVENTS if event.level >= number]
    if told:
        telemetry.subscribe(telemetry.log_event, *told)
