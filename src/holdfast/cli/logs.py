"""The log of a process that is ours: words or JSON, on stderr, with the engine's own events from a level on."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from holdfast import telemetry
from holdfast.settings import LogFormat, LogLevel, Settings

F = TypeVar("F", bound=Callable[..., Any])

_CREDENTIALS = re.compile(r"([?&](?:token|t)=)[^&\s\"']+")


def log_options(function: F) -> F:
    """`--log-format` and `--log-level`."""
    for name, choices in (("format", LogFormat), ("level", LogLevel)):
        function = click.option(
            f"--log-{name}", type=click.Choice([item.value for item in choices]), help=f"The setting `log_{name}`."
        )(function)
    return function


class CredentialFilter(logging.Filter):
    """Addresses that hold credentials (`/api/live?token=…`, links that resume) are written without them."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        discreet = _CREDENTIALS.sub(r"\1…", text)
        if discreet != text:
            record.msg, record.args = discreet, None
        return True


def set_up_logs(settings: Settings, form: str | None, level: str | None) -> Callable[[], None]:
    """What the options say, else the settings. Gives back what ends the log of events."""
    number = logging.getLevelNamesMapping()[(level or settings.log_level.value).upper()]
    handler = logging.StreamHandler()
    if (form or settings.log_format) == LogFormat.JSON:
        from holdfast.integrations.json_logs import JsonFormatter

        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(CredentialFilter())
    logging.basicConfig(level=number, handlers=[handler], force=True)
    # Below that it writes every header of a socket, those that say who asks included.
    logging.getLogger("uvicorn.error").setLevel(max(number, logging.INFO))
    told = [event.name for event in telemetry.EVENTS if event.level >= number]
    return telemetry.subscribe(telemetry.log_event, *told) if told else lambda: None
