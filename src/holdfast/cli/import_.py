"""`holdfast import`: put definitions into a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import activities_option, store_option, with_option

if TYPE_CHECKING:
    from holdfast.engine import Holdfast
    from holdfast.model.definition import Definition
    from holdfast.ports import Store


@click.command("import", epilog="\b\nExample:\n  holdfast import order.json invoice.json --store sqlite:///holdfast.db")
@click.argument("workflows", nargs=-1, required=True, metavar="FILE|MODULE:NAME...")
@store_option("Which store; the setting `store` if it is not given.")
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
    """Put definitions into a store and publish them: others can then execute them by id. All are checked first.

    A definition whose version number is taken by other content gets the next number.
    """
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.sources import open_source, planned

    engine = make_engine(activity_modules, map(open_source, others))
    definitions = [planned(open_source(place), engine) for place in workflows]
    asyncio.run(_import(engine, store, definitions))


async def _import(engine: Holdfast, url: str | None, definitions: list[Definition]) -> None:
    store = engine.store(url)
    await store.open()
    try:
        for definition in definitions:
            click.echo(await _save(store, definition))
    finally:
        await store.close()


async def _save(store: Store, definition: Definition) -> str:
    from datetime import UTC, datetime

    import msgspec

    from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Which, content_hash
    from holdfast.model.stored import DEFAULT_TENANT
    from holdfast.model.writer import write_definition

    tenant, name = DEFAULT_TENANT, definition.id
    document = msgspec.json.encode(write_definition(definition))
    content = content_hash(document)
    published = await store.find_version(tenant, name, Which.PUBLISHED)
    if published is not None and published.content == content:
        return f"{name} version {published.version}: unchanged"
    number = definition.version
    same = await store.find_version(tenant, name, number)
    if same is not None and same.content != content:
        latest = await store.find_version(tenant, name, Which.LATEST)
        number = (number if latest is None else latest.version) + 1
    now = datetime.now(UTC)
    label = DefinitionVersion(
        tenant=tenant,
        definition_id=name,
        version=number,
        content=content,
        name=definition.title,
        published=True,
        created=now,
    )
    await store.save_version(label, DefinitionContent(tenant=tenant, hash=content, created=now, document=document))
    return f"{name} version {number}: imported"
