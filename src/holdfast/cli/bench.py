"""`holdfast bench`: Holdfast's own benchmark scenarios on the user's store and transport."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.options import json_option, store_option


@click.command(
    epilog="\b\nExample:\n  holdfast bench --store postgresql://localhost/holdfast --transport redis://localhost"
)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@store_option("The store; default: the setting `store`. The benchmark writes to it, in its own tenant.")
@click.option("--transport", metavar="URL", help="The transport of steps; default: the setting `transport`.")
@click.option("--count", type=click.IntRange(min=10), help="Number of instances per scenario.")
@json_option("Print the figures as JSON.")
def bench(
    scenarios: tuple[str, ...], store: str | None, transport: str | None, count: int | None, as_json: bool
) -> None:
    """Measure starts, events, timers and workers on your own store and transport.

    SCENARIOs are dispatch, timers, waits and cluster; default: all.
    """
    from holdfast.cli.failures import BadInput
    from holdfast.cli.loop import run_loop
    from holdfast.cli.tables import show_json
    from holdfast.plugins import load_plugins
    from holdfast.settings import load_settings
    from holdfast.testing.bench import SCENARIOS

    known = [name for name, _, _ in SCENARIOS]
    for name in scenarios:
        if name not in known:
            raise BadInput(f"Unknown scenario '{name}'. Choose from: {', '.join(known)}.")
    settings = load_settings(declared=load_plugins().settings)
    wanted = [item for item in SCENARIOS if not scenarios or item[0] in scenarios]
    address = store or settings.store
    if address.startswith("memory:"):
        raise BadInput("Workers cannot share an in-memory store. Use a persistent one: sqlite:///bench.db")
    found = run_loop(_measured(wanted, address, transport or settings.transport, count, quiet=as_json))
    if as_json:
        show_json(found)
    else:
        _show(found)


async def _measured(
    wanted: list[Any], store: str, transport: str, count: int | None, *, quiet: bool
) -> dict[str, dict[str, float]]:
    from rich.console import Console
    from rich.progress import Progress

    from holdfast.testing.bench import place

    found: dict[str, dict[str, float]] = {}
    with Progress(console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("measuring", total=len(wanted))
        for name, scenario, meaning in wanted:
            progress.update(task, description=meaning)
            given = {} if count is None else {"count": count}
            found[name] = await scenario(place(store, transport), **given)
            progress.advance(task)
    return found


def _show(found: dict[str, dict[str, float]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("scenario", "figure", "value")
    for name, figures in found.items():
        for figure, value in figures.items():
            table.add_row(name, figure, f"{value:,.2f}")
    Console().print(table)
