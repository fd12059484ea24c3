"""`holdfast worker`: a process that executes work of a store until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.logs import log_options
from holdfast.cli.options import capacity_options, store_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

    from holdfast.engine import Holdfast

UNDRAINED = 1


@click.command(
    epilog="\b\nExample:\n  holdfast worker shop --store postgresql://localhost/holdfast\n"
    "  holdfast worker shop.jobs --queues gpu --transport amqp://guest:guest@localhost/ --concurrency 4"
)
@click.argument("modules", nargs=-1, metavar="[MODULE|MODULE:APP]...")
@store_option("The store; default: the setting `store`.")
@click.option("--transport", metavar="URL", help="Transport of steps: a broker's address, or `database` (the default).")
@click.option("--queues", metavar="NAMES", help="Queues to serve, separated by commas; default: the setting `queues`.")
@click.option(
    "--tenants", default="", metavar="NAMES", help="Tenants to serve, separated by commas; default: the unnamed tenant."
)
@click.option(
    "--concurrency", type=click.IntRange(min=1), help="Concurrent steps; default: the setting `step_concurrency`."
)
@capacity_options
@click.option("--name", help="The node's name, stable across restarts; default: host and process id.")
@click.option(
    "--publish/--no-publish", default=True, help="Publish the workflows of the modules first.", show_default=True
)
@click.option(
    "--probe",
    metavar="[HOST:]PORT",
    help="Serve /health/live, /health/ready and /metrics there; default: the setting `probe`.",
)
@log_options
@click.pass_context
def worker(
    ctx: click.Context,
    modules: tuple[str, ...],
    store: str | None,
    transport: str | None,
    queues: str | None,
    tenants: str,
    concurrency: int | None,
    lanes: int | None,
    connections: int | None,
    name: str | None,
    publish: bool,
    probe: str | None,
    log_format: str | None,
    log_level: str | None,
) -> None:
    """Process work until SIGTERM or Ctrl-C. Then no new work is taken, and running work ends or is released.

    MODULEs contain the code: activities and workflows. MODULE:APP is your own engine, a Holdfast object.
    """
    from holdfast.cli.logs import set_up_logs
    from holdfast.cli.loop import run_loop
    from holdfast.cli.probe_answers import listen_for_probes
    from holdfast.engine.host import node_name
    from holdfast.engine.worker import WorkerOptions

    engine, workflows = engine_of(modules)
    options = WorkerOptions(
        name=name or node_name(),
        queues=_queues(queues, engine.settings.queues),
        tenants=_names(tenants, "tenant") or ("",),
        concurrency=concurrency,
        lanes=lanes,
        connections=connections,
        drain_limit=engine.settings.drain_limit,
    )
    ctx.call_on_close(set_up_logs(engine.settings, log_format, log_level))
    sockets = listen_for_probes(engine.settings.probe if probe is None else probe)
    drained = run_loop(_run(engine, options, store, transport, workflows if publish else [], sockets))
    ctx.exit(0 if drained else UNDRAINED)


async def _run(
    engine: Holdfast,
    options: Any,
    store: str | None,
    transport: str | None,
    workflows: list[Any],
    sockets: Sequence[socket],
) -> bool:
    import asyncio
    import signal

    from holdfast.activities.http.outbound import OutboundHttp
    from holdfast.cli.probe_answers import probed
    from holdfast.cli.sockets import address_of
    from holdfast.engine.garbage_collector import tune_garbage_collector
    from holdfast.engine.loop_watchdog import watched_loop
    from holdfast.engine.worker import Worker

    outbound = engine.services.get(OutboundHttp)
    outbound.keep()
    made = Worker(engine, options, store=store, transport=transport, workflows=workflows)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, made.stop)

    def ready(_: Worker) -> None:
        tune_garbage_collector()
        served = ", ".join(options.queues)
        asked = f"; probes at {', '.join(map(address_of, sockets))}" if sockets else ""
        click.echo(f"worker {options.name} is ready: {served}{asked}", err=True)

    try:
        async with probed(made, sockets), watched_loop(engine.settings.watchdog):
            drained = await made.run(ready)
    finally:
        await outbound.let_go()
        engine.close()
    click.echo(f"worker {options.name} has ended" + ("" if drained else "; unfinished work was released"), err=True)
    return drained


def engine_of(modules: tuple[str, ...]) -> tuple[Holdfast, list[Any]]:
    """The engine, and the workflows of the modules."""
    from holdfast.cli.failures import BadInput
    from holdfast.cli.references import code_of, find
    from holdfast.engine import Holdfast

    apps = [reference for reference in modules if ":" in reference]
    if len(apps) > 1 or (apps and len(modules) > 1):
        raise BadInput("Name one MODULE:APP, or only modules; not both.")
    if apps:
        app = find(apps[0])
        if not isinstance(app, Holdfast):
            raise BadInput(
                f"'{apps[0]}' is not a Holdfast object. Name one, such as app = Holdfast(…), or only the module."
            )
        return app, list(app.workflows)
    code = code_of(modules)
    return Holdfast(activities=code.activities, definitions=code.workflows), code.workflows


def _queues(given: str | None, setting: str) -> tuple[str, ...]:
    from holdfast.cli.failures import BadInput

    names = _names(setting if given is None else given, "queue")
    if not names:
        source = "The setting `queues`" if given is None else "--queues"
        raise BadInput(f"{source} names no queue, so the worker would take no work. Name one, such as `default`.")
    return names


def _names(text: str, what: str) -> tuple[str, ...]:
    from holdfast.cli.failures import BadInput
    from holdfast.model.ticket import is_queue

    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if not is_queue(name) or "@" in name:
            raise BadInput(
                f"'{name}' is not a valid {what} name: use up to 64 letters, digits, dots, colons and dashes."
            )
    return names
