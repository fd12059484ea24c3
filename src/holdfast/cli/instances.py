"""`holdfast instances`: find, read, cancel, retry, recover, resume, skip, fork and delete instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.connection import UNAUTHORIZED, Target, ask, hint_at_worker, target_options
from holdfast.cli.moments import fork, moments, skip, why_option
from holdfast.cli.options import json_option
from holdfast.cli.suggestions import SuggestingGroup
from holdfast.cli.watch import watch_option, watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.client import Client, types as t

LIST_LIMIT = 20
STATUSES = ("pending", "running", "suspended", "finished", "faulted", "canceling", "canceled")


@click.group(
    cls=SuggestingGroup,
    epilog="\b\nExample:\n  holdfast instances list --status faulted --server http://127.0.0.1:8600",
)
def instances() -> None:
    """Find, read, cancel, retry, recover, resume, skip, fork and delete instances."""


for _command in (moments, fork, skip):
    instances.add_command(_command)


@instances.command("list")
@click.option("--status", multiple=True, type=click.Choice(STATUSES), help="Only these statuses; repeatable.")
@click.option("--definition", "definition_id", metavar="ID", help="Only instances of this definition.")
@click.option("--correlation", "correlation_id", metavar="ID", help="Only instances with this correlation id.")
@click.option("--search", help="Beginning of the id, name or correlation id, or part of the definition id.")
@click.option("--incidents", is_flag=True, help="Only instances with open incidents.")
@click.option(
    "--sort", default="-created", show_default=True, help="Column to sort by; a leading '-' sorts in descending order."
)
@click.option("--limit", default=LIST_LIMIT, show_default=True)
@target_options
@json_option("Print a JSON list.")
@watch_option
def list_(target: Target, as_json: bool, watch: bool, incidents: bool, **query: Any) -> None:
    """List instances, latest first."""
    from holdfast.cli.output import moment, show_items

    query["status"] = list(query["status"])
    query["has_incidents"] = True if incidents else None

    async def work(client: Client) -> t.Page[t.InstanceItem]:
        return await client.instances.list(**query)

    columns = {
        "id": lambda item: item.id,
        "definition": lambda item: f"{item.definition_id} v{item.definition_version}",
        "status": lambda item: item.status,
        "incidents": lambda item: str(item.incidents or ""),
        "correlation": lambda item: item.correlation_id or "",
        "created": lambda item: moment(item.created),
        "updated": lambda item: moment(item.updated),
    }
    watched(
        lambda: ask(target, work),
        lambda page: show_items(columns, page.items, page.total, as_json=as_json, more=page.next is not None),
        watch=watch,
    )


@instances.command("show")
@click.argument("instance_id", metavar="ID")
@target_options
@json_option("Print the instance as JSON.")
@watch_option
def show(instance_id: str, target: Target, as_json: bool, watch: bool) -> None:
    """Show an instance: status, variables, wait conditions, incidents."""
    from holdfast.cli.output import show_instance

    async def work(client: Client) -> t.InstanceDetail:
        return await client.instances.get(instance_id)

    watched(
        lambda: ask(target, work),
        lambda found: show_instance(found, as_json=as_json),
        watch=watch,
    )


@instances.command("journal")
@click.argument("instance_id", metavar="ID")
@target_options
@json_option("Print the entries as a JSON list.")
def journal(instance_id: str, target: Target, as_json: bool) -> None:
    """Show the journal of an instance, in order."""
    from holdfast.cli.output import plain, show_items

    async def work(client: Client) -> list[t.JournalItem]:
        entries: list[t.JournalItem] = []
        after: int | None = 0
        skip = 0
        while after is not None:
            page = await client.instances.journal(instance_id, after=after, skip=skip)
            entries += page.entries
            after, skip = page.next, page.skip
        return entries

    columns = {
        "#": lambda item: str(item.sequence),
        "at": lambda item: f"{item.at:%H:%M:%S.%f}"[:-3],
        "event": lambda item: item.event,
        "activity": lambda item: item.activity_id or "",
        "data": lambda item: "" if item.data is None else plain(item.data),
    }
    found = ask(target, work)
    show_items(columns, found, len(found), as_json=as_json)


@instances.command("cancel")
@click.argument("instance_ids", metavar="ID…", nargs=-1, required=True)
@click.option("--terminate", is_flag=True, help="End immediately, without cleanup and compensation.")
@why_option
@target_options
@click.pass_context
def cancel(ctx: click.Context, instance_ids: tuple[str, ...], terminate: bool, why: str | None, target: Target) -> None:
    """Cancel instances; their cleanup and compensation run."""

    async def cancel_one(client: Client, instance_id: str) -> str:
        return (await client.instances.cancel(instance_id, terminate=terminate, why=why)).status

    ctx.exit(_each(target, instance_ids, cancel_one))


@instances.command("retry")
@click.argument("instance_ids", metavar="ID…", nargs=-1)
@click.option("--all-faulted", is_flag=True, help="All faulted instances; see also --definition.")
@click.option(
    "--definition", "definition_id", metavar="ID", help="With --all-faulted: only instances of this definition."
)
@why_option
@target_options
@click.pass_context
def retry(
    ctx: click.Context,
    instance_ids: tuple[str, ...],
    all_faulted: bool,
    definition_id: str | None,
    why: str | None,
    target: Target,
) -> None:
    """Retry the failed activities of faulted instances."""
    from holdfast.cli.output import show_bulk

    if bool(instance_ids) == all_faulted:
        raise click.UsageError("Name instances, or use --all-faulted.")

    async def retry_one(client: Client, instance_id: str) -> str:
        return (await client.instances.retry(instance_id, why=why)).status

    async def retry_all(client: Client) -> t.InstancesBulkResult:
        chosen = {"status": ["faulted"], "definition_id": [definition_id] if definition_id else []}
        return await client.instances.bulk("retry", filter=chosen, why=why)

    ctx.exit(show_bulk("retried", ask(target, retry_all)) if all_faulted else _each(target, instance_ids, retry_one))


@instances.command("recover")
@click.argument("instance_id", metavar="ID")
@why_option
@target_options
@click.pass_context
def recover(ctx: click.Context, instance_id: str, why: str | None, target: Target) -> None:
    """Rerun effects that were lost with their process and are held (on_lost: hold)."""

    async def work(client: Client) -> int:
        count = (await client.instances.recover(instance_id, why=why)).count
        if count:
            await hint_at_worker(client, target)
        return count

    count = ask(target, work)
    if count:
        click.echo(f"{instance_id} {count} {'effect runs' if count == 1 else 'effects run'} again")
        return
    click.echo(
        f"{instance_id} has no held effect: its process may still count as alive. To see what it waits for: "
        f"holdfast doctor instance {instance_id}. To retry failed activities: holdfast instances retry {instance_id}",
        err=True,
    )
    ctx.exit(1)


@instances.command("resume")
@click.argument("instance_id", metavar="ID")
@click.option("--bookmark", metavar="ID", help="The bookmark; default: the only one.")
@click.option("--payload", metavar="JSON|@FILE", help="Payload for the bookmark.")
@target_options
def resume(
    instance_id: str,
    bookmark: str | None,
    payload: str | None,
    target: Target,
) -> None:
    """Resume an instance that waits at a bookmark."""
    from holdfast.cli.inputs import read_payload

    value = read_payload(payload, "--payload")

    async def work(client: Client) -> t.InstanceResult:
        return await client.instances.resume(instance_id, bookmark, value)

    click.echo(f"{instance_id} {ask(target, work).status}")


@instances.command("delete")
@click.argument("instance_ids", metavar="ID…", nargs=-1, required=True)
@target_options
@click.pass_context
def delete(ctx: click.Context, instance_ids: tuple[str, ...], target: Target) -> None:
    """Delete instances that have ended, with all their data."""

    async def delete_one(client: Client, instance_id: str) -> str:
        await client.instances.delete(instance_id)
        return "deleted"

    ctx.exit(_each(target, instance_ids, delete_one))


def _each(target: Target, ids: tuple[str, ...], work: Callable[[Client, str], Awaitable[str]]) -> int:
    """One after the other; a refused instance does not stop the others. Exit code 1 if one was refused."""
    from holdfast.errors import RequestRefused

    async def all_of_them(client: Client) -> int:
        refused = 0
        for instance_id in ids:
            try:
                click.echo(f"{instance_id} {await work(client, instance_id)}")
            except RequestRefused as error:
                if error.status == UNAUTHORIZED:
                    raise
                refused = 1
                click.echo(f"{instance_id} refused: {error}", err=True)
        return refused

    return ask(target, all_of_them)
