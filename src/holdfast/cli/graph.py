"""`holdfast graph`: draw a definition."""

from __future__ import annotations

import sys

import click

from holdfast.cli.failures import BadDocument
from holdfast.cli.options import activities_option, output_option


@click.command(epilog="\b\nExample:\n  holdfast graph order.json --format svg -o order.svg")
@click.argument("workflow", metavar="FILE|MODULE:NAME")
@click.option(
    "--format",
    "drawing",
    type=click.Choice(["mermaid", "svg"]),
    help="Default: svg for -o NAME.svg, otherwise mermaid.",
)
@output_option
@activities_option
def graph(workflow: str, drawing: str | None, output: str | None, activity_modules: tuple[str, ...]) -> None:
    """Draw a definition as Mermaid text or as SVG. Unreadable parts are reported on stderr and omitted."""
    from holdfast.cli.documents import write_file
    from holdfast.cli.engines import make_engine
    from holdfast.cli.sources import open_source, read_source, with_place
    from holdfast.cli.tables import show_problems
    from holdfast.model.diagram import to_mermaid, to_svg

    source = open_source(workflow)
    engine = make_engine(activity_modules)
    with with_place(source.place):
        definition, problems = read_source(source, engine)
    if definition is None:
        raise BadDocument(source.place, problems)
    show_problems([(source.place, problem) for problem in problems])
    chosen = drawing or ("svg" if output and output.lower().endswith(".svg") else "mermaid")
    drawn = (to_svg if chosen == "svg" else to_mermaid)(definition, engine.descriptors)
    if output is None:
        sys.stdout.write(drawn if drawn.endswith("\n") else f"{drawn}\n")
    else:
        write_file(output, drawn)
