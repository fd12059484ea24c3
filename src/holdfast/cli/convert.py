"""`holdfast convert`: Elsa 3 documents to ours and back, and any of them to Python."""

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
    help="Without it: Elsa's to ours, ours to Elsa's.",
)
@click.option(
    "--untangle", is_flag=True, help="To Python: flowcharts that are chains and decisions as Sequence and If."
)
@output_option
@activities_option
def convert(
    workflow: str, target: str | None, untangle: bool, output: str | None, activity_modules: tuple[str, ...]
) -> None:
    """Convert a definition. Nothing is dropped: what the other side has no place for is kept in the document and reported
    on stderr. Exit code 2 if the document cannot be read.

    Python is written as objects (`workflow = Workflow(…)`) that give an equivalent definition; positions and other notes for
    editors are left out. With --untangle it is one that does the same, and the flowcharts that could not be untangled are told.
    """
    import json

    from holdfast.cli.documents import write_file
    from holdfast.cli.engines import make_engine
    from holdfast.cli.sources import open_source, read_source, refusing
    from holdfast.cli.tables import show_json, show_problems
    from holdfast.elsa import is_elsa

    source = open_source(workflow)
    from_elsa = isinstance(source.workflow, dict) and is_elsa(source.workflow)
    with refusing(source.place):
        engine = make_engine(activity_modules)
        definition, problems = read_source(source, engine)
        _refuse_unread(source.place, definition, problems, from_elsa=from_elsa)
        assert definition is not None
        if target == "python":
            show_problems([(source.place, problem) for problem in problems])
            if untangle:
                definition = _untangled(definition, source.place, engine)
            _write_python(definition, source.place, output, activity_modules)
            return
        document, further = _write(definition, target or ("holdfast" if from_elsa else "elsa"))
    try:
        text = json.dumps(document, ensure_ascii=False, indent=2)
    except TypeError as error:  # objects in Python may hold what no document can
        raise BadInput(f"{source.place} cannot be written as JSON: {error}. Use an expression instead.") from error
    show_problems([(source.place, problem) for problem in (*problems, *further)])
    if output is None:
        show_json(document, indent=2)
    else:
        write_file(output, f"{text}\n")


def _refuse_unread(place: str, definition: Definition | None, problems: list[Problem], *, from_elsa: bool) -> None:
    """Our reader leaves out what it cannot read; Elsa's keeps it, so its errors are only reported."""
    from holdfast.cli.checking import errors_in

    if definition is None or (errors_in(problems) and not from_elsa):
        raise BadDocument(place, problems)


def _write(definition: Definition, target: str) -> tuple[dict[str, Any], list[Problem]]:
    if target == "elsa":
        from holdfast.elsa import write_elsa

        return write_elsa(definition)
    from holdfast.model.writer import write_definition

    return write_definition(definition), []


def _untangled(definition: Definition, place: str, engine: Holdfast) -> Definition:
    from holdfast.authoring.printing import untangled

    found, tangled = untangled(definition, engine.descriptors)
    for name in tangled:
        click.echo(
            f"{place}: the flowchart '{name}' cannot be untangled: ways lead back, fork, or meet in more than one place. "
            "It is written with its arrows.",
            err=True,
        )
    return found


def _write_python(definition: Definition, place: str, output: str | None, activity_modules: tuple[str, ...]) -> None:
    from holdfast.authoring.printing import print_definition
    from holdfast.cli.documents import write_file

    printed = print_definition(definition, _known(activity_modules))
    for name in printed.unknown:
        click.echo(
            f"{place}: '{name}' is written as Placed(…): no class or function of that type is here. "
            "Bring it with --activities MODULE.",
            err=True,
        )
    if output is None:
        click.echo(printed.text, nl=False)
    else:
        write_file(output, printed.text)


def _known(activity_modules: tuple[str, ...]) -> dict[str, Any]:
    """Types that can be written by a name: our public classes, and what the modules bring."""
    import holdfast
    from holdfast.authoring.activity import Activity
    from holdfast.authoring.printing import Known
    from holdfast.cli.references import import_module

    found: dict[str, Known] = {}
    for module_name, names in [("holdfast", holdfast.__all__), *((name, None) for name in activity_modules)]:
        module = holdfast if names is not None else import_module(module_name)
        for name in names or vars(module):
            thing = getattr(module, name)
            if isinstance(thing, type) and issubclass(thing, Activity) and "activity_type" in vars(thing):
                found.setdefault(thing.type_name, Known(module=module.__name__, name=name, thing=thing))
            elif hasattr(thing, "activity_type") and hasattr(thing, "bind"):
                type_name = thing.activity_type.descriptor.type
                found.setdefault(type_name, Known(module=module.__name__, name=name, thing=thing))
    return found
