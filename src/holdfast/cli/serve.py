"""`holdfast serve`: server, Studio and worker in one process."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.logs import log_options
from holdfast.cli.options import activities_option, capacity_options, store_option

HOST, PORT = "127.0.0.1", 8600


@click.command(epilog="\b\nExample:\n  holdfast serve order.json billing:invoice --store sqlite:///holdfast.db")
@click.argument("workflows", nargs=-1, metavar="[FILE|FOLDER|MODULE:NAME]...")
@click.option("--host", default=HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 selects a free one.",
)
@store_option("The store; default: the setting `store`.")
@click.option("--no-worker", is_flag=True, help="Serve requests only; other processes do the queued work.")
@click.option("--no-auth", is_flag=True, help="Disable sign-in; binds only to this machine.")
@click.option("--no-studio", is_flag=True, help="Do not serve the Studio.")
@click.option("--docs", default="", metavar="FOLDER", help="A built documentation site to serve under /docs.")
@click.option("--base-path", default="", metavar="PATH", help="Serve everything below this path, such as /flows.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Server processes.")
@capacity_options
@click.option(
    "--trust-proxy",
    default="127.0.0.1",
    show_default=True,
    metavar="HOSTS",
    help="Proxies whose X-Forwarded headers are trusted.",
)
@click.option("--watch", is_flag=True, help="Publish the named files again when they change.")
@activities_option
@log_options
@click.pass_context
def serve(
    ctx: click.Context,
    workflows: tuple[str, ...],
    host: str,
    port: int,
    store: str | None,
    no_worker: bool,
    no_auth: bool,
    no_studio: bool,
    docs: str,
    base_path: str,
    workers: int,
    lanes: int | None,
    connections: int | None,
    trust_proxy: str,
    watch: bool,
    activity_modules: tuple[str, ...],
    log_format: str | None,
    log_level: str | None,
) -> None:
    """Serve REST, live updates, HTTP workflows and the Studio, and run a worker.

    The named workflows are published at start: files as documents, MODULE:NAME as code.
    """
    options: dict[str, Any] = {
        "workflows": workflows,
        "store": store,
        "worker": not no_worker,
        "auth": not no_auth,
        "studio": not no_studio,
        "docs": docs,
        "base_path": base_path,
        "activities": activity_modules,
        "watch": watch,
        "lanes": lanes,
        "connections": connections,
        "log_format": log_format,
        "log_level": log_level,
        "trust_proxy": trust_proxy,
    }
    if no_auth:
        from holdfast.server.security import check_open_address

        check_open_address(host)
    from holdfast.cli.sockets import address_of, listen

    sockets = listen(host, port)
    options["address"] = f"{address_of(sockets[0])}{base_path}"
    if workers > 1:
        from holdfast.cli.server_processes import serve_many

        ctx.exit(serve_many(options, sockets, workers))
    from holdfast.cli.loop import run_loop
    from holdfast.cli.server_process import serve_until_stopped

    run_loop(serve_until_stopped(options, sockets))
