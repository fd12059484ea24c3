"""`holdfast diff`: changes between the stored version of a workflow and the code, and the affected instances."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import activities_option, json_option, store_option

if TYPE_CHECKING:
    from holdfast.engine import Holdfast
    from holdfast.model.definition import Definition
    from holdfast.model.diff import DefinitionDiff, FieldChange
    from holdfast.model.listing import InstanceSummary
    from holdfast.ports import Store

_MARKS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
_PAGE = 500
STOPPED = 1
"""Exit code if the code cannot continue live instances."""
_VERSIONS_MAX = 1_000
_INSTANCES_SHOWN = 50
_VALUE_LENGTH_MAX = 72


@click.command(epilog="\b\nExample:\n  holdfast diff shop:fulfil --store sqlite:///holdfast.db")
@click.argument("workflow", metavar="FILE|MODULE:NAME")
@click.argument("other", required=False, metavar="[OTHER]")
@store_option("The store; default: the setting `store`.")
@click.option("--tenant", default="", metavar="ID", help="The tenant; default: the default tenant.")
@json_option("Print the changes and the instances as JSON.")
@activities_option
@click.pass_context
def diff(
    ctx: click.Context,
    workflow: str,
    other: str | None,
    store: str | None,
    tenant: str,
    as_json: bool,
    activity_modules: tuple[str, ...],
) -> None:
    """Compare a workflow with its current version in a store (the published one, else the latest), or with OTHER.

    Live instances keep the version that they started with. Instances on other content than the code are listed with the
    activities at which they wait. Instances that this code cannot continue are listed with the reason: an activity, function
    or class that is gone, or a class that cannot hold the stored values.

    Exit code: 0 all live instances can continue, 1 some cannot, 2 bad input.
    """
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.references import is_reference
    from holdfast.cli.sources import open_source, runnable
    from holdfast.cli.tables import show_json

    # A worker has all code of the module, not only the parts that the workflow uses now.
    own = [workflow.rpartition(":")[0]] if other is None and is_reference(workflow) else []
    engine = make_engine(dict.fromkeys((*activity_modules, *own)))
    definition = runnable(open_source(workflow), engine)
    if other is not None:
        comparison = _compared(definition, runnable(open_source(other), engine), f"{workflow} → {other}")
    else:
        comparison = asyncio.run(_against_store(engine, store, tenant, definition))
    if as_json:
        show_json(comparison)
    else:
        for line in _lines(comparison):
            click.echo(line)
    ctx.exit(STOPPED if comparison.get("stopped") else 0)


def _compared(before: Definition, after: Definition, title: str) -> dict[str, Any]:
    import msgspec

    from holdfast.model.diff import diff_definitions

    return {"title": title, "changes": msgspec.to_builtins(diff_definitions(before, after)), "instances": []}


async def _against_store(engine: Holdfast, url: str | None, tenant: str, definition: Definition) -> dict[str, Any]:
    from holdfast.cli.existing_store import existing

    store = engine.store(existing(url or engine.settings.store))
    await store.open()
    try:
        comparison = await _stored(store, tenant, definition)
        if comparison["changes"] is not None:
            comparison["stopped"] = [item async for item in _stopped(engine, store, tenant, definition)]
        return comparison
    finally:
        await store.close()


async def _stored(store: Store, tenant: str, definition: Definition) -> dict[str, Any]:
    from holdfast.model.catalog import Which

    for which in (Which.PUBLISHED, Which.LATEST):
        label = await store.find_version(tenant, definition.id, which)
        if label is not None:
            break
    else:
        whose = f" for tenant '{tenant}'" if tenant else ""
        return {"title": f"{definition.id}: not in the store yet{whose}", "changes": None, "instances": []}
    before = await _definition(store, tenant, label.content)
    comparison = _compared(before, definition, f"{definition.id}: version {label.version} → the code")
    comparison["version"] = label.version
    comparison["instances"] = [item async for item in _instances(store, tenant, definition)]
    return comparison


async def _stopped(
    engine: Holdfast, store: Store, tenant: str, definition: Definition
) -> AsyncIterator[dict[str, Any]]:
    """Live instances that the code cannot continue: each is loaded as a worker with this code would load it."""
    from holdfast.errors import HoldfastError

    runtime = engine.runtime_on(store, tenant=tenant, takes_work=False)
    async for item in _live(store, tenant, definition.id):
        try:
            await runtime.read(item.id)
        except HoldfastError as error:
            yield {"id": item.id, "version": item.definition_version, "reason": str(error)}


async def _live(store: Store, tenant: str, definition_id: str) -> AsyncIterator[InstanceSummary]:
    """All live instances of the definition, newest first."""
    from holdfast.model.instance import Status
    from holdfast.model.listing import InstanceFilter, InstanceQuery

    live = tuple(item.value for item in Status if not item.at_rest)
    chosen, cursor = InstanceFilter(definition_ids=(definition_id,), statuses=live), None
    while True:
        page = await store.search(InstanceQuery(tenant=tenant, filter=chosen, limit=_PAGE, cursor=cursor))
        for item in page.items:
            yield item
        cursor = page.cursor
        if cursor is None:
            return


async def _definition(store: Store, tenant: str, content: str) -> Definition:
    import msgspec

    from holdfast.model.catalog import Origin
    from holdfast.model.reader import parse_definition

    stored = await store.load_content(tenant, content)
    assert stored is not None, "a version without content"
    return parse_definition(msgspec.json.decode(stored.document), trusted=stored.origin is Origin.CODE)


async def _instances(store: Store, tenant: str, definition: Definition) -> AsyncIterator[dict[str, Any]]:
    """Live instances on other content than the code: where each waits, and how the code changed that activity."""
    from holdfast.model.catalog import DefinitionQuery, Which
    from holdfast.model.diff import diff_definitions

    labels, _ = await store.list_versions(
        tenant, DefinitionQuery(which=Which.ALL, definition_ids=(definition.id,), limit=_VERSIONS_MAX)
    )
    versions = {label.content: label.version for label in labels}
    known: dict[str, DefinitionDiff] = {}
    async for item in _live(store, tenant, definition.id):
        if item.content not in known:
            known[item.content] = diff_definitions(await _definition(store, tenant, item.content), definition)
        changes = known[item.content]
        if changes.is_empty:
            continue
        by_id = {change.id: change.change.value for change in changes.activities}
        places = [row.activity_id for row in await store.bookmarks_of(item.tenant, item.id)]
        yield {
            "id": item.id,
            "version": versions.get(item.content, item.definition_version),
            "status": item.status,
            "waits_at": [{"activity": place, "change": by_id.get(place)} for place in dict.fromkeys(places)],
        }


# -- as text -----------------------------------------------------------------------------------------------------------


def _lines(comparison: dict[str, Any]) -> Iterator[str]:
    yield comparison["title"]
    changes = comparison["changes"]
    if changes is None:
        return
    stopped = comparison.get("stopped", [])
    if not any(changes.values()):
        yield "  the workflow itself has not changed" if stopped else "  no change that affects execution"
    for item in changes["activities"]:
        title = f"  {item['title']}" if item["title"] != item["id"] else ""
        yield f"{_MARKS[item['change']]} {item['id']} ({item['type']}){title}"
        yield from _fields(item["fields"])
    for item in changes["connections"]:
        outcome = f" on {item['outcome']}" if item["outcome"] else ""
        yield f"{_MARKS[item['change']]} connection {item['from']} → {item['to']}{outcome}"
    for kind in ("inputs", "outputs", "variables"):
        for item in changes[kind]:
            yield f"{_MARKS[item['change']]} {kind[:-1]} {item['name']}"
            yield from _fields(item["fields"])
    yield from _fields(changes["settings"])
    yield from _stopped_lines(stopped)
    if comparison["instances"]:
        yield f"{len(comparison['instances'])} live instances keep the version that they started with:"
        for item in comparison["instances"][:_INSTANCES_SHOWN]:
            places = ", ".join(_place(place) for place in item["waits_at"]) or "nothing"
            yield f"  {item['id']}  version {item['version']}  {item['status']}, waits at {places}"
        if len(comparison["instances"]) > _INSTANCES_SHOWN:
            yield "  …; --json lists all"


def _stopped_lines(stopped: list[dict[str, Any]]) -> Iterator[str]:
    """Instances by reason."""
    if not stopped:
        return
    yield f"! {len(stopped)} live instance{'s' * (len(stopped) != 1)} cannot continue with this code:"
    by_reason: dict[str, list[str]] = {}
    for item in stopped:
        reason = item["reason"].replace(f"instance '{item['id']}'", "the instance")
        by_reason.setdefault(reason, []).append(item["id"])
    for reason, names in by_reason.items():
        more = ", …" if len(names) > _INSTANCES_SHOWN else ""
        yield f"  {', '.join(names[:_INSTANCES_SHOWN])}{more}"
        yield f"    {reason}"


def _place(place: dict[str, Any]) -> str:
    return f"{place['activity']} ({place['change']})" if place["change"] else str(place["activity"])


def _fields(fields: list[dict[str, Any]] | list[FieldChange]) -> Iterator[str]:
    import msgspec

    for field in msgspec.to_builtins(fields):
        yield f"    {field['path']}: {_short(field['before'])} → {_short(field['after'])}"


def _short(value: Any) -> str:
    import json

    if value is None:
        return "nothing"
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("$code", "$python", "$javascript"):
        (text,) = value.values()
    else:
        text = json.dumps(value, ensure_ascii=False)
    line = " ".join(str(text).split())
    return line if len(line) <= _VALUE_LENGTH_MAX else line[: _VALUE_LENGTH_MAX - 1] + "…"
