"""`holdfast migrate`: migrate the schema of a store."""

from __future__ import annotations

import click

from holdfast.cli.options import json_option, store_option

MIGRATIONS_PENDING = 1


@click.command(epilog="\b\nExample:\n  holdfast migrate --store postgresql://localhost/holdfast --check")
@store_option("The store; default: the setting `store`.")
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if migrations are pending.")
@json_option("Print schema, applied and pending as JSON.")
@click.pass_context
def migrate(ctx: click.Context, store: str | None, check: bool, as_json: bool) -> None:
    """Apply pending migrations under a lock: several processes may run it at the same time."""
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.existing_store import existing
    from holdfast.cli.tables import show_json

    engine = make_engine()
    address = store or engine.settings.store
    report = asyncio.run(engine.store(existing(address) if check else address).migrate(check=check))
    if as_json:
        show_json({"schema": report.schema, "applied": list(report.applied), "pending": list(report.pending)})
    else:
        for name in report.applied:
            click.echo(f"applied {name}")
        for name in report.pending:
            click.echo(f"pending {name}")
        if not report.applied and not report.pending:
            click.echo(f"up to date, schema {report.schema}")
    ctx.exit(MIGRATIONS_PENDING if check and report.pending else 0)
