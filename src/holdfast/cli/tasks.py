"""`holdfast tasks`: list, claim and complete human tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.connection import Target, ask, target_options
from holdfast.cli.options import json_option
from holdfast.cli.suggestions import SuggestingGroup
from holdfast.cli.watch import watch_option, watched

if TYPE_CHECKING:
    from holdfast.client import Client, types as t


@click.group(
    cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast tasks complete 5Q0X… --answer '{\"approved\": true}'"
)
def tasks() -> None:
    """List, claim and complete human tasks."""


@tasks.command("list")
@click.option("--state", default="open", show_default=True, help="open, claimed, completed or canceled.")
@click.option("--mine", is_flag=True, help="Only tasks for me and my roles.")
@click.option("--limit", default=20, show_default=True)
@target_options
@json_option("Print a JSON list.")
@watch_option
def list_(target: Target, as_json: bool, watch: bool, **query: Any) -> None:
    """List tasks."""
    from holdfast.cli.output import moment, show_items

    async def work(client: Client) -> t.Page[t.TaskItem]:
        return await client.tasks.list(**query)

    columns = {
        "id": lambda item: item.id,
        "title": lambda item: item.title,
        "for": lambda item: item.assignee or (f"role {item.role}" if item.role else ""),
        "state": lambda item: item.state,
        "claimed by": lambda item: item.claimed_by or "",
        "due": lambda item: moment(item.due),
        "instance": lambda item: item.instance_id,
    }
    watched(
        lambda: ask(target, work),
        lambda page: show_items(columns, page.items, page.total, as_json=as_json),
        watch=watch,
    )


@tasks.command("claim")
@click.argument("task_id", metavar="ID")
@target_options
def claim(task_id: str, target: Target) -> None:
    """Claim a task: it is assigned to you."""

    async def work(client: Client) -> t.TaskItem:
        return await client.tasks.claim(task_id)

    click.echo(f"{task_id} claimed by {ask(target, work).claimed_by}")


@tasks.command("complete")
@click.argument("task_id", metavar="ID")
@click.option("--answer", metavar="JSON|@FILE", help="Answer to the task's form.")
@target_options
def complete(task_id: str, answer: str | None, target: Target) -> None:
    """Complete a task; its workflow continues with the answer."""
    from holdfast.cli.inputs import read_payload

    value = read_payload(answer, "--answer")

    async def work(client: Client) -> t.TaskItem:
        return await client.tasks.complete(task_id, value)

    click.echo(f"{task_id} {ask(target, work).state}")
