"""`holdfast instances moments|fork|skip`: show earlier states, fork from one, and skip an activity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.connection import Target, ask, target_options
from holdfast.cli.options import json_option

if TYPE_CHECKING:
    from holdfast.client import Client, types as t

why_option = click.option("--why", help="The reason, for the journal.")
at_option = click.option(
    "--at", "version", type=click.IntRange(min=1), metavar="VERSION", help="A version with a stored state."
)


@click.command("moments")
@click.argument("instance_id", metavar="ID")
@at_option
@target_options
@json_option("Print JSON.")
def moments(instance_id: str, version: int | None, target: Target, as_json: bool) -> None:
    """List the versions with a stored state; with --at, show one state."""
    if version is None:
        _list(instance_id, target, as_json=as_json)
    else:
        _show(instance_id, version, target, as_json=as_json)


def _list(instance_id: str, target: Target, *, as_json: bool) -> None:
    from holdfast.cli.output import moment, show_items

    async def work(client: Client) -> t.MomentList:
        return await client.instances.moments(instance_id)

    columns = {
        "version": lambda item: str(item.version),
        "at": lambda item: moment(item.at),
        "status": lambda item: item.status,
    }
    found = ask(target, work)
    show_items(columns, found.items, len(found.items), as_json=as_json)
    if not found.items:
        click.echo("No states are stored. Set history = snapshots to store them from now on.", err=True)


def _show(instance_id: str, version: int, target: Target, *, as_json: bool) -> None:
    from msgspec import to_builtins

    from holdfast.cli.output import state_rows
    from holdfast.cli.tables import show_json, show_table

    async def work(client: Client) -> t.MomentDetail:
        return await client.instances.at(instance_id, version)

    found = ask(target, work)
    if as_json:
        show_json(to_builtins(found))
    else:
        show_table(("what", "value"), [("status", found.status), *state_rows(found.state)])


@click.command("fork")
@click.argument("instance_id", metavar="ID")
@at_option
@why_option
@target_options
def fork(instance_id: str, version: int | None, why: str | None, target: Target) -> None:
    """Create an instance that continues from the same state, or from the stored state of a version."""

    async def work(client: Client) -> t.ImportedInstance:
        return await client.instances.fork(instance_id, version=version, why=why)

    click.echo(f"{ask(target, work).id} forked from {instance_id}")


@click.command("skip")
@click.argument("instance_id", metavar="ID")
@click.argument("activity_id", metavar="ACTIVITY")
@click.option("--outcome", help="Continue as if the activity had completed with this outcome.")
@why_option
@target_options
def skip(instance_id: str, activity_id: str, outcome: str | None, why: str | None, target: Target) -> None:
    """Continue as if a failed or waiting activity had completed."""

    async def work(client: Client) -> t.InstanceResult:
        return await client.instances.skip(instance_id, activity_id, outcome=outcome, why=why)

    click.echo(f"{instance_id} {ask(target, work).status}")
