"""`holdfast run`: run a workflow in this process."""

from __future__ import annotations

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.options import (
    activities_option,
    auto_resume_option,
    json_option,
    store_option,
    wait_option,
    with_option,
)


@click.command(
    epilog="\b\nExample:\n  holdfast run order.json --with invoice.json --input '{\"amount\": 12}' --state order.state"
)
@click.argument("workflow", metavar="FILE|MODULE:NAME")
@with_option
@click.option("--input", "given", metavar="JSON|@FILE", help="The workflow's inputs, by name; @- reads stdin.")
@click.option(
    "--flowchart-mode",
    type=click.Choice(["counter", "token"]),
    help="Join mode of flowcharts, if the definition has none.",
)
@auto_resume_option
@wait_option
@json_option("Print one line of JSON at the end: instance_id, status, outputs, variables, incidents, bookmarks.")
@click.option("--state", metavar="FILE", help="Save the state to this file, for `holdfast resume`.")
@store_option("Persist the instance in this store: sqlite:///FILE, postgresql://…, mysql://…")
@click.option("--correlation-id", metavar="ID", help="Correlation id, such as an order number.")
@activities_option
@click.pass_context
def run(
    ctx: click.Context,
    workflow: str,
    others: tuple[str, ...],
    given: str | None,
    flowchart_mode: str | None,
    auto_resume: bool,
    wait: bool,
    as_json: bool,
    state: str | None,
    store: str | None,
    correlation_id: str | None,
    activity_modules: tuple[str, ...],
) -> None:
    """Run a workflow: a file (Holdfast JSON or YAML, Elsa 3 JSON, - for stdin), or a workflow in Python by MODULE:NAME.

    NAME is a Workflow, an activity, a Definition, or a function that returns one. WriteLine prints to stdout immediately.
    Exit code: 0 finished, suspended or canceled, 1 faulted, 2 bad input.
    """
    from holdfast.cli import statefile, stored_run
    from holdfast.cli.engines import make_engine
    from holdfast.cli.inputs import read_inputs
    from holdfast.cli.sources import modules_of, open_source, publishable, with_place
    from holdfast.cli.terminal_run import LinePrinter, RunOptions, drive

    inputs = read_inputs(given)
    if state is not None and store is not None:
        raise BadInput("--state and --store cannot be combined. Use one of them.")
    if state is not None:
        statefile.prepare(state)
    kept = statefile.Run(open_source(workflow), tuple(map(open_source, others)), activity_modules)
    engine = make_engine(activity_modules, kept.others)
    definition = publishable(kept.workflow, engine)
    for other in kept.others:
        publishable(other, engine)
    printer = LinePrinter()
    options = RunOptions(state, as_json, auto_resume, wait)
    if store is not None:
        with with_place("--input"):
            start = stored_run.Start(definition, inputs, correlation_id, flowchart_mode)
            place = stored_run.Place(store, (*modules_of(kept.workflow), *activity_modules), others)
            ctx.exit(stored_run.run(engine, place, start, printer, options))
    burst = engine.runner.run(
        definition, inputs, wait=wait, on_line=printer, correlation_id=correlation_id, flowchart_mode=flowchart_mode
    )
    with with_place("--input"):
        code = drive(engine, burst, printer, kept, options)
    ctx.exit(code)
