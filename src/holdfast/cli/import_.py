"""`holdfast import`: import definitions into a store and publish them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import activities_option, store_option, with_option

if TYPE_CHECKING:
    from holdfast.cli.source_set import Checked
    from holdfast.engine import Holdfast
    from holdfast.management.runtime import ManagedRuntime
    from holdfast.model.definition import Definition

REFUSED = "Nothing was imported."


@click.command("import", epilog="\b\nExample:\n  holdfast import order.json invoice.json --store sqlite:///holdfast.db")
@click.argument("workflows", nargs=-1, required=True, metavar="FILE|FOLDER|MODULE:NAME...")
@store_option("The store; default: the setting `store`.")
@with_option
@activities_option
@click.pass_context
def import_(
    ctx: click.Context,
    workflows: tuple[str, ...],
    store: str | None,
    others: tuple[str, ...],
    activity_modules: tuple[str, ...],
) -> None:
    """Import definitions into a store and publish them, so that other workflows can execute them by id. All are validated first.

    A folder stands for all definitions in it and below it. If the version number of a definition is taken by other content, the
    definition gets the next number.

    Exit code: 0 imported, 1 imported, but a stored definition that uses one of them could not be published again, 2 bad input.
    """
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.source_set import publishable_together
    from holdfast.cli.sources import open_source

    engine = make_engine(activity_modules, map(open_source, others))
    definitions = publishable_together(workflows, engine, REFUSED)
    ctx.exit(1 if asyncio.run(_import(engine, store, definitions)) else 0)


async def _import(engine: Holdfast, url: str | None, definitions: dict[str, Checked]) -> int:
    from holdfast.cli.source_set import refuse_all
    from holdfast.cli.stored_run import opened

    refused = 0
    async with opened(engine, url) as runtime:
        dry_run = runtime.definitions.dry_run
        code = [item for item, is_document in definitions.values() if not is_document]
        documents = {place: item for place, (item, is_document) in definitions.items() if is_document}
        beside = [await dry_run.one(item, trusted=True) for item in code]
        refuse_all(await dry_run.together(documents, beside=beside), REFUSED)
        for definition, is_document in definitions.values():
            refused += await _save(runtime, definition, is_document=is_document)
    return refused


async def _save(runtime: ManagedRuntime, definition: Definition, *, is_document: bool) -> int:
    """Save and publish, and report. Returns the number of definitions that use it and could not be published again."""
    from holdfast.cli.output import show_consumers
    from holdfast.errors import DefinitionNotFound, DefinitionNotPublished
    from holdfast.model.catalog import Source, Which

    name = definition.id
    try:
        before = (await runtime.definitions.get(name, Which.PUBLISHED)).content
    except (DefinitionNotFound, DefinitionNotPublished):
        before = ""
    if is_document:
        published = await runtime.definitions.save_and_publish(definition, source=Source.FILE)
        saved, updated, refused = published.version, published.consumers_updated, published.consumers_refused
    else:  # Named explicitly: publish this content again even if other content was published since.
        saved = await runtime.definitions.deploy(definition, f"import-{runtime.new_id()}")
        updated, refused = (), {}
    click.echo(f"{name} version {saved.version}: {'unchanged' if saved.content == before else 'imported'}")
    show_consumers(updated, refused)
    return len(refused)
