"""Logging of a Holdfast process: text or JSON on stderr, with engine events from a minimum level."""

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
    """Removes credentials from logged URLs (`/api/live?token=…`, resume links)."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        discreet = _CREDENTIALS.sub(r"\1…", text)
        if discreet != text:
            record.msg, record.args = discreet, None
        return True


def set_up_logs(settings: Settings, form: str | None, level: str | None) -> Callable[[], None]:
    """Options override settings. Returns a function that stops the log of events."""
    number = logging.getLevelNamesMapping()[(level or settings.log_level.value).upper()]
    handler = logging.StreamHandler()
    if (form or settings.log_format) == LogFormat.JSON:
        from holdfast.integrations.json_logs import JsonFormatter

        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(CredentialFilter())
    logging.basicConfig(level=number, handlers=[handler], force=True)
    # At lower levels it logs every header of a socket, including credentials.
    logging.getLogger("uvicorn.error").setLevel(max(number, logging.INFO))
    names = [event.name for event in telemetry.EVENTS if event.level >= number]
    return telemetry.subscribe(telemetry.log_event, *names) if names else lambda: None
