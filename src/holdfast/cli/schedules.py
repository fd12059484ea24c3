"""`holdfast schedules`: list, pause, resume and run schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.connection import Target, ask, target_options
from holdfast.cli.options import json_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.client import Client, types as t


@click.group(cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast schedules next ID --count 3")
def schedules() -> None:
    """List, pause, resume and run schedules."""


@schedules.command("list")
@target_options
@json_option("Print a JSON list.")
def list_(target: Target, as_json: bool) -> None:
    """List schedules with their next time."""
    from holdfast.cli.output import moment, show_items

    async def work(client: Client) -> t.Page[t.ScheduleItem]:
        return await client.schedules.list()

    columns = {
        "id": lambda item: item.id,
        "definition": lambda item: item.definition_id,
        "rule": lambda item: f"{item.rule} {item.zone}".strip(),
        "next": lambda item: "paused" if item.paused else moment(item.due),
        "last": lambda item: moment(item.fired),
        "misfire": lambda item: item.misfire,
    }
    page = ask(target, work)
    show_items(columns, page.items, page.total, as_json=as_json)


@schedules.command("next")
@click.argument("schedule_id", metavar="ID")
@click.option("--count", default=5, show_default=True)
@target_options
def next_(schedule_id: str, count: int, target: Target) -> None:
    """Print the next times."""
    from holdfast.cli.output import moment

    async def work(client: Client) -> t.NextTimes:
        return await client.schedules.next(schedule_id, count)

    for time in ask(target, work).times:
        click.echo(moment(time))


@schedules.command("pause")
@click.argument("schedule_id", metavar="ID")
@target_options
def pause(schedule_id: str, target: Target) -> None:
    """Pause a schedule: it starts nothing until it is resumed."""

    async def work(client: Client) -> None:
        await client.schedules.pause(schedule_id)

    ask(target, work)
    click.echo(f"{schedule_id} paused")


@schedules.command("resume")
@click.argument("schedule_id", metavar="ID")
@target_options
def resume(schedule_id: str, target: Target) -> None:
    """Resume a paused schedule."""

    async def work(client: Client) -> None:
        await client.schedules.resume(schedule_id)

    ask(target, work)
    click.echo(f"{schedule_id} resumed")


@schedules.command("run")
@click.argument("schedule_id", metavar="ID")
@target_options
def run(schedule_id: str, target: Target) -> None:
    """Start an instance now; the schedule itself does not change."""

    async def work(client: Client) -> t.StartedNow:
        return await client.schedules.run(schedule_id)

    click.echo(f"instance {ask(target, work).instance_id} started")
