"""`holdfast dead-letters`: list, replay and discard work that failed permanently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.connection import Target, ask, target_options
from holdfast.cli.options import json_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.client import Client, types as t


@click.group("dead-letters", cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast dead-letters replay ID")
def dead_letters() -> None:
    """List, replay and discard work that failed permanently."""


@dead_letters.command("list")
@click.option("--limit", default=20, show_default=True)
@target_options
@json_option("Print a JSON list.")
def list_(limit: int, target: Target, as_json: bool) -> None:
    """List dead letters, latest first."""
    from holdfast.cli.output import moment, plain, show_items

    async def work(client: Client) -> t.Page[t.DeadLetterItem]:
        return await client.dead_letters.list(limit=limit)

    columns = {
        "id": lambda item: item.id,
        "kind": lambda item: item.kind,
        "instance": lambda item: item.instance_id or "",
        "reason": lambda item: item.reason,
        "died": lambda item: moment(item.died),
        "error": lambda item: plain(item.error),
    }
    page = ask(target, work)
    show_items(columns, page.items, page.total, as_json=as_json, more=page.next is not None)


@dead_letters.command("replay")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@target_options
@click.pass_context
def replay(ctx: click.Context, ids: tuple[str, ...], target: Target) -> None:
    """Return dead letters to their queues."""

    async def work(client: Client) -> t.Done:
        return await client.dead_letters.replay(ids)

    ctx.exit(_report("replayed", ask(target, work)))


@dead_letters.command("discard")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@target_options
@click.pass_context
def discard(ctx: click.Context, ids: tuple[str, ...], target: Target) -> None:
    """Delete dead letters; the work is not retried."""

    async def work(client: Client) -> t.Done:
        return await client.dead_letters.discard(ids)

    ctx.exit(_report("discarded", ask(target, work)))


def _report(verb: str, done: t.Done) -> int:
    """Exit code 1 if an id does not exist."""
    click.echo(f"{done.count} {verb}")
    for name in done.missing:
        click.echo(f"There is no dead letter '{name}'. List them: holdfast dead-letters list", err=True)
    return 1 if done.missing else 0
