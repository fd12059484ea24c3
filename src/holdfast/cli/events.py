"""`holdfast events`: send events to workflows; list and replay expired events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.connection import Target, ask, hint_at_worker, target_options
from holdfast.cli.options import json_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.client import Client, types as t


@click.group(
    cls=SuggestingGroup,
    epilog='\b\nExample:\n  holdfast events send Approved --event-key 4711 --payload \'{"by": "ann"}\'',
)
def events() -> None:
    """Send events; list and replay expired events."""


@events.command("send")
@click.argument("name", metavar="NAME")
@click.option("--payload", metavar="JSON|@FILE", help="Payload of the event.")
@click.option("--event-key", metavar="KEY", help="Only instances that wait with this key.")
@click.option("--correlation", "correlation_id", metavar="ID", help="Only instances with this correlation id.")
@click.option("--instance", "instance_id", metavar="ID", help="Only this instance.")
@click.option("--idempotency-key", metavar="KEY", help="Events with the same key take effect once.")
@target_options
def send(
    name: str,
    payload: str | None,
    event_key: str | None,
    correlation_id: str | None,
    instance_id: str | None,
    idempotency_key: str | None,
    target: Target,
) -> None:
    """Send an event. Without an address, it reaches every instance that waits for it."""
    from holdfast.cli.inputs import read_payload

    value = read_payload(payload, "--payload")

    async def work(client: Client) -> t.Receipt:
        receipt = await client.send_event(
            name,
            value,
            key=event_key,
            correlation_id=correlation_id,
            instance_id=instance_id,
            idempotency_key=idempotency_key,
        )
        await hint_at_worker(client, target)
        return receipt

    receipt = ask(target, work)
    click.echo(f"{receipt.stimulus_id} {'was accepted before' if receipt.existing else 'accepted'}")


@events.command("expired")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 200))
@target_options
@json_option("Print a JSON list.")
def expired(limit: int, target: Target, as_json: bool) -> None:
    """List events that expired without a match in the last week, latest first."""
    from holdfast.cli.output import moment, plain, show_items

    async def work(client: Client) -> list[t.ExpiredStimulusItem]:
        return await client.stimuli.expired(limit)

    columns = {
        "id": lambda item: item.id,
        "event": lambda item: item.event_name or item.type,
        "key": lambda item: "" if item.key is None else plain(item.key),
        "correlation": lambda item: item.correlation_id or "",
        "arrived": lambda item: moment(item.arrived),
        "expired": lambda item: moment(item.expired),
    }
    found = ask(target, work)
    show_items(columns, found, len(found), as_json=as_json)


@events.command("replay")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@target_options
@click.pass_context
def replay(ctx: click.Context, ids: tuple[str, ...], target: Target) -> None:
    """Match expired events again, as if they had just been sent."""

    async def work(client: Client) -> t.Done:
        done = await client.stimuli.replay_expired(ids)
        await hint_at_worker(client, target)
        return done

    done = ask(target, work)
    click.echo(f"{done.count} replayed")
    for name in done.missing:
        click.echo(f"There is no expired event '{name}'. List them: holdfast events expired", err=True)
    ctx.exit(1 if done.missing else 0)
