"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def with_option(function: F) -> F:
    return click.option(
        "--with",
        "others",
        multiple=True,
        metavar="FILE",
        help="A workflow that this one executes or uses as an activity; repeatable.",
    )(function)


def activities_option(function: F) -> F:
    return click.option(
        "--activities",
        "activity_modules",
        multiple=True,
        metavar="MODULE",
        help="A Python module with activities, types or workflows that the workflow uses; repeatable.",
    )(function)


def json_option(help_text: str) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        return click.option("--json", "as_json", is_flag=True, help=help_text)(function)

    return decorate


def output_option(function: F) -> F:
    return click.option("-o", "--output", metavar="FILE", help="Write to this file instead of stdout.")(function)


def auto_resume_option(function: F) -> F:
    return click.option(
        "--auto-resume", is_flag=True, help="Resume every bookmark with an empty payload until none is left."
    )(function)


def capacity_options(function: F) -> F:
    lanes = click.option("--lanes", type=click.IntRange(min=1), help="Lanes of the node; default: the setting `lanes`.")
    connections = click.option(
        "--connections",
        type=click.IntRange(min=1),
        help="Maximum number of connections to the store; default: the setting `store_connections`.",
    )
    return lanes(connections(function))


def wait_option(function: F) -> F:
    return click.option("--wait", is_flag=True, help="Wait for delays and back-offs instead of suspending.")(function)


def store_option(help_text: str, *, required: bool = False) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        return click.option("--store", metavar="URL", required=required, help=help_text)(function)

    return decorate
