"""`holdfast validate`: report all problems of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.failures import BAD_INPUT, BadDocument, BadInput
from holdfast.cli.options import activities_option, json_option, with_option

if TYPE_CHECKING:
    from holdfast.engine import Holdfast
    from holdfast.model.problem import Problem


@click.command(epilog="\b\nExample:\n  holdfast validate order.json invoice.json --with tax.json")
@click.argument("workflows", nargs=-1, required=True, metavar="FILE|MODULE:NAME...")
@with_option
@json_option("Print the problems as JSON: one object per file with file, valid and problems.")
@activities_option
@click.pass_context
def validate(
    ctx: click.Context,
    workflows: tuple[str, ...],
    others: tuple[str, ...],
    as_json: bool,
    activity_modules: tuple[str, ...],
) -> None:
    """Report all problems of definitions: place, problem and remedy. Exit code 2 if there are errors."""
    from holdfast.cli.engines import make_engine
    from holdfast.cli.sources import open_source
    from holdfast.cli.tables import show_json, show_problems
    from holdfast.model.problem import errors_in

    engine = make_engine(activity_modules, map(open_source, others))
    found = {place: _check(place, engine) for place in workflows}
    if as_json:
        show_json([_as_data(place, problems) for place, problems in found.items()])
    else:
        show_problems([(place, problem) for place, problems in found.items() for problem in problems])
        for place, problems in found.items():
            if not errors_in(problems):
                click.echo(f"{place}: valid")
    ctx.exit(BAD_INPUT if any(map(errors_in, found.values())) else 0)


def _check(place: str, engine: Holdfast) -> list[Problem]:
    """An unreadable file has one problem; the others are still checked."""
    from holdfast.cli.source_problems import check
    from holdfast.cli.sources import open_source
    from holdfast.model.problem import Problem

    try:
        return check(open_source(place), engine)
    except BadDocument as error:
        return list(error.problems)
    except BadInput as error:
        return [Problem(path="", code="unreadable", message=error.message, remedy="")]


def _as_data(place: str, problems: list[Problem]) -> dict[str, Any]:
    from holdfast.model.problem import errors_in

    return {
        "file": place,
        "valid": not errors_in(problems),
        "problems": [
            {
                "path": item.path,
                "severity": str(item.severity),
                "code": item.code,
                "message": item.message,
                "remedy": item.remedy,
            }
            for item in problems
        ],
    }
