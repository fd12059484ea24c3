"""`holdfast convert`: convert between Elsa 3 and Holdfast documents, and both to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.failures import BadDocument, BadInput
from holdfast.cli.options import activities_option, output_option

if TYPE_CHECKING:
    from holdfast.engine import Holdfast
    from holdfast.model.definition import Definition
    from holdfast.model.problem import Problem


@click.command(epilog="\b\nExample:\n  holdfast convert elsa-order.json -o order.json")
@click.argument("workflow", metavar="FILE|MODULE:NAME")
@click.option(
    "--to",
    "target",
    type=click.Choice(["holdfast", "elsa", "python"]),
    help="Default: Elsa 3 to Holdfast, and Holdfast to Elsa 3.",
)
@click.option(
    "--untangle", is_flag=True, help="For Python: write flowcharts of chains and decisions as Sequence and If."
)
@output_option
@activities_option
def convert(
    workflow: str, target: str | None, untangle: bool, output: str | None, activity_modules: tuple[str, ...]
) -> None:
    """Convert a definition. Nothing is lost: parts without an equivalent in the target format are stored in the document and
    reported on stderr. Exit code 2 if the document cannot be read.

    Python is written as objects (`workflow = Workflow(…)`) that build an equivalent definition; positions and other editor
    metadata are omitted. With --untangle, flowcharts are rewritten if possible; the others are reported.
    """
    import json

    from holdfast.cli.documents import write_file
    from holdfast.cli.engines import make_engine
    from holdfast.cli.sources import open_source, read_source, with_place
    from holdfast.cli.tables import show_json, show_problems
    from holdfast.elsa import is_elsa

    source = open_source(workflow)
    from_elsa = isinstance(source.workflow, dict) and is_elsa(source.workflow)
    with with_place(source.place):
        engine = make_engine(activity_modules)
        definition, problems = read_source(source, engine)
        _refuse_unread(source.place, definition, problems, from_elsa=from_elsa)
        assert definition is not None
        if target == "python":
            show_problems([(source.place, problem) for problem in problems])
            _write_python(definition, source.place, output, engine, untangle=untangle)
            return
        document, further = _write(definition, target or ("holdfast" if from_elsa else "elsa"))
    try:
        text = json.dumps(document, ensure_ascii=False, indent=2)
    except TypeError as error:  # objects in Python may hold values that JSON cannot
        raise BadInput(f"{source.place} cannot be written as JSON: {error}. Use an expression instead.") from error
    show_problems([(source.place, problem) for problem in (*problems, *further)])
    if output is None:
        show_json(document, indent=2)
    else:
        write_file(output, f"{text}\n")


def _refuse_unread(place: str, definition: Definition | None, problems: list[Problem], *, from_elsa: bool) -> None:
    """The Holdfast reader drops unreadable parts; the Elsa reader keeps them, so its errors are only reported."""
    from holdfast.model.problem import errors_in

    if definition is None or (errors_in(problems) and not from_elsa):
        raise BadDocument(place, problems)


def _write(definition: Definition, target: str) -> tuple[dict[str, Any], list[Problem]]:
    if target == "elsa":
        from holdfast.elsa import write_elsa

        return write_elsa(definition)
    from holdfast.model.writer import write_definition

    return write_definition(definition), []


def _write_python(definition: Definition, place: str, output: str | None, engine: Holdfast, *, untangle: bool) -> None:
    from holdfast.cli.documents import write_file
    from holdfast.engine.python_export import written_as_python

    written = written_as_python(definition, engine, untangle=untangle)
    for note in written.notes:
        click.echo(f"{place}: {note}", err=True)
    if output is None:
        click.echo(written.text, nl=False)
    else:
        write_file(output, written.text)
