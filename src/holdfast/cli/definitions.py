"""`holdfast definitions`: stored definitions, drafts and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.connection import Target, ask, hint_at_worker, target_options
from holdfast.cli.options import json_option, output_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.client import Client, types as t


@click.group(cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast definitions publish order-approval")
def definitions() -> None:
    """List, print, publish, retract and delete definitions; start instances of them."""


@definitions.command("list")
@click.option("--search", help="Part of the id or name.")
@click.option("--label", help="Only definitions with this label.")
@click.option("--folder", help="Only definitions in this folder.")
@click.option("--limit", default=50, show_default=True)
@target_options
@json_option("Print a JSON list.")
def list_(target: Target, as_json: bool, **query: Any) -> None:
    """List definitions."""
    from holdfast.cli.output import moment, show_items

    async def work(client: Client) -> t.Page[t.DefinitionSummary]:
        return await client.definitions.list(**query)

    columns = {
        "id": lambda item: item.id,
        "name": lambda item: item.name,
        "published": lambda item: "" if item.published_version is None else f"v{item.published_version}",
        "latest": lambda item: f"v{item.latest_version}",
        "origin": lambda item: item.origin,
        "labels": lambda item: ", ".join(item.labels),
        "updated": lambda item: moment(item.updated),
    }
    page = ask(target, work)
    show_items(columns, page.items, page.total, as_json=as_json)


@definitions.command("show")
@click.argument("definition_id", metavar="ID")
@click.option("--version", default="latest", show_default=True, help="latest, published or a number.")
@target_options
def show(definition_id: str, version: str, target: Target) -> None:
    """Print a definition as JSON."""
    from holdfast.cli.tables import show_json

    async def work(client: Client) -> t.DefinitionDetail:
        return await client.definitions.get(definition_id, version)

    show_json(ask(target, work).document, indent=2)


@definitions.command("export")
@click.argument("definition_id", metavar="ID")
@click.option("--to", "form", type=click.Choice(["holdfast", "elsa", "python"]), default="holdfast", show_default=True)
@click.option(
    "--untangle", is_flag=True, help="For Python: write flowcharts of chains and decisions as Sequence and If."
)
@click.option("--version", default="latest", show_default=True, help="latest, published or a number.")
@output_option
@target_options
def export(definition_id: str, form: str, untangle: bool, version: str, output: str | None, target: Target) -> None:
    """Print a definition as a file: JSON (Holdfast or Elsa 3), or a Python module."""
    from holdfast.cli.documents import write_file

    async def work(client: Client) -> bytes:
        return await client.definitions.export(definition_id, form, version=version, untangle=untangle)

    text = ask(target, work).decode()
    if output is None:
        click.echo(text)
    else:
        write_file(output, f"{text.rstrip()}\n")


@definitions.command("publish")
@click.argument("definition_id", metavar="ID")
@click.option("--version", type=int, help="The version to publish; default: the latest.")
@target_options
@click.pass_context
def publish(ctx: click.Context, definition_id: str, version: int | None, target: Target) -> None:
    """Publish a version: new instances use it from now on. Definitions that use it as an activity are published again.

    Exit code: 0 published, 1 published, but a definition that uses it could not be published again, 2 bad input.
    """
    from holdfast.cli.output import show_consumers

    async def work(client: Client) -> t.PublishResult:
        return await client.definitions.publish(definition_id, version)

    result = ask(target, work)
    click.echo(f"{definition_id} v{result.summary.published_version} published, {result.triggers} triggers")
    if result.live_instances:
        click.echo(f"{result.live_instances} live instances of earlier versions keep their version", err=True)
    show_consumers(result.consumers_updated, result.consumers_refused)
    ctx.exit(1 if result.consumers_refused else 0)


@definitions.command("retract")
@click.argument("definition_id", metavar="ID")
@target_options
def retract(definition_id: str, target: Target) -> None:
    """Unpublish a definition: triggers and schedules no longer start instances."""

    async def work(client: Client) -> t.DefinitionSummary:
        return await client.definitions.retract(definition_id)

    ask(target, work)
    click.echo(f"{definition_id} retracted")


@definitions.command("delete")
@click.argument("definition_id", metavar="ID")
@target_options
def delete(definition_id: str, target: Target) -> None:
    """Delete all versions; live instances continue."""

    async def work(client: Client) -> None:
        await client.definitions.delete(definition_id)

    ask(target, work)
    click.echo(f"{definition_id} deleted")


@definitions.command("start")
@click.argument("definition_id", metavar="ID")
@click.option("--input", "text", metavar="JSON|@FILE", help="Inputs by name.")
@click.option("--correlation", "correlation_id", metavar="ID", help="Correlation id of the instance.")
@click.option("--idempotency-key", metavar="KEY", help="Starts with the same key start one instance.")
@target_options
def start(
    definition_id: str,
    text: str | None,
    correlation_id: str | None,
    idempotency_key: str | None,
    target: Target,
) -> None:
    """Start an instance of the published version; a worker runs it."""
    from holdfast.cli.inputs import read_inputs

    inputs = read_inputs(text)

    async def work(client: Client) -> t.DispatchResult:
        result = await client.definitions.dispatch(
            definition_id, inputs, correlation_id=correlation_id, idempotency_key=idempotency_key
        )
        await hint_at_worker(client, target)
        return result

    result = ask(target, work)
    word = "runs already" if result.existing else result.status
    click.echo(f"instance {', '.join(result.instance_ids)} {word}")
