"""`--watch`: print the output again whenever it changes, until Ctrl+C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

REFRESH_SECONDS = 1.0
CLEAR = "\x1b[2J\x1b[H"
F = TypeVar("F", bound=Callable[..., Any])


def watch_option(function: F) -> F:
    return click.option("--watch", is_flag=True, help="Print again whenever it changes, until Ctrl+C.")(function)


def watched(look: Callable[[], Any], show: Callable[[Any], None], *, watch: bool) -> None:
    last: Any = object()
    while True:
        found = look()
        if found != last:
            if watch and sys.stdout.isatty():
                click.echo(CLEAR, nl=False)
            show(found)
            last = found
        if not watch:
            return
        time.sleep(REFRESH_SECONDS)
