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
    """
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.source_set import publishable_together
    from holdfast.cli.sources import open_source

    engine = make_engine(activity_modules, map(open_source, others))
    definitions = publishable_together(workflows, engine, REFUSED)
    asyncio.run(_import(engine, store, definitions))


async def _import(engine: Holdfast, url: str | None, definitions: dict[str, Checked]) -> None:
    from holdfast.cli.source_set import refuse_all
    from holdfast.cli.stored_run import opened

    async with opened(engine, url) as runtime:
        dry_run = runtime.definitions.dry_run
        code = [item for item, is_document in definitions.values() if not is_document]
        documents = {place: item for place, (item, is_document) in definitions.items() if is_document}
        beside = [await dry_run.one(item, trusted=True) for item in code]
        refuse_all(await dry_run.together(documents, beside=beside), REFUSED)
        for definition, is_document in definitions.values():
            click.echo(await _save(runtime, definition, is_document=is_document))


async def _save(runtime: ManagedRuntime, definition: Definition, *, is_document: bool) -> str:
    from holdfast.errors import DefinitionNotFound, DefinitionNotPublished
    from holdfast.model.catalog import Source, Which

    name = definition.id
    try:
        before = (await runtime.definitions.get(name, Which.PUBLISHED)).content
    except (DefinitionNotFound, DefinitionNotPublished):
        before = ""
    if is_document:
        saved = (await runtime.definitions.save_and_publish(definition, source=Source.FILE)).version
    else:  # Named explicitly: publish this content again even if other content was published since.
        saved = await runtime.definitions.deploy(definition, f"import-{runtime.new_id()}")
    return f"{name} version {saved.version}: {'unchanged' if saved.content == before else 'imported'}"
