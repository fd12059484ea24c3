"""`holdfast doctor`: diagnoses a set-up, a stimulus or an instance and names remedies. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import activities_option, json_option, store_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.management.doctor import Finding
    from holdfast.management.runtime import ManagedRuntime

PROBLEMS_FOUND = 1
store = store_option("The store; default: the setting `store`.")
as_json = json_option("Print the findings as JSON.")


@click.group(
    cls=SuggestingGroup,
    invoke_without_command=True,
    epilog="\b\nExample:\n  holdfast doctor --store sqlite:///holdfast.db\n  holdfast doctor instance 5Q0XK2…",
)
@store
@click.option("--transport", metavar="URL", help="A broker to check as well; default: the setting `transport`.")
@click.option("--strict", is_flag=True, help="Exit with code 1 for hints too, such as no live node. For CI.")
@as_json
@click.pass_context
def doctor(ctx: click.Context, store: str | None, transport: str | None, strict: bool, as_json: bool) -> None:
    """Check database, schema, clock, nodes, queues, queued work and broker.

    Exit code: 0 no problem, 1 a problem was found (with --strict: or a hint), 2 bad input.
    """
    if ctx.invoked_subcommand is None:
        import asyncio

        ctx.exit(_show(asyncio.run(_setup(store, transport)), as_json=as_json, strict=strict))


async def _setup(url: str | None, broker: str | None) -> list[Finding]:
    from holdfast import __version__
    from holdfast.cli.engines import make_engine
    from holdfast.cli.existing_store import existing
    from holdfast.dispatch.url import transport_from_url
    from holdfast.management.doctor import Finding, check_store, check_transport

    engine = make_engine()
    found = [Finding(subject="version", message=f"holdfast {__version__}")]
    found += await check_store(engine.store(existing(url or engine.settings.store)), engine.clock)
    broker = broker or engine.settings.transport
    if broker and "://" in broker:
        found.append(await check_transport(transport_from_url(broker, plugins=engine.registry.transports)))
    return found


@doctor.command("instance")
@click.argument("instance_id", metavar="ID")
@store
@activities_option
@as_json
@click.pass_context
def instance(
    ctx: click.Context, instance_id: str, store: str | None, activity_modules: tuple[str, ...], as_json: bool
) -> None:
    """Explain why an instance does not continue."""
    from holdfast.management.doctor import why_it_waits

    async def look(runtime: ManagedRuntime) -> list[Finding]:
        return await why_it_waits(runtime, instance_id)

    ctx.exit(_show(_on_store(store, look, activity_modules), as_json=as_json))


@doctor.command("stimulus")
@click.argument("stimulus_type", metavar="TYPE")
@click.option("--payload", metavar="JSON|@FILE", help="Payload of the stimulus, used for matching.")
@click.option("--correlation", metavar="ID", help="Correlation id of the stimulus.")
@click.option("--instance", "instance_id", metavar="ID", help="Instance that the stimulus addresses.")
@store
def stimulus(
    stimulus_type: str,
    payload: str | None,
    correlation: str | None,
    instance_id: str | None,
    store: str | None,
) -> None:
    """Show a stimulus' key, its matches, and the differing fields of the nearest bookmarks and triggers."""
    import msgspec

    from holdfast.cli.inputs import read_payload
    from holdfast.cli.tables import show_json

    value = read_payload(payload, "--payload")

    async def explain(runtime: ManagedRuntime) -> Any:
        return await runtime.stimuli.explain(stimulus_type, value, correlation_id=correlation, instance_id=instance_id)

    show_json(msgspec.to_builtins(_on_store(store, explain)), indent=2)


def _on_store(url: str | None, work: Any, activity_modules: Sequence[str] = ()) -> Any:
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.existing_store import existing
    from holdfast.cli.stored_run import opened

    engine = make_engine(activity_modules)

    async def run() -> Any:
        async with opened(engine, existing(url or engine.settings.store)) as runtime:
            return await work(runtime)

    return asyncio.run(run())


def _show(found: Sequence[Finding], *, as_json: bool, strict: bool = False) -> int:
    import msgspec

    from holdfast.cli.tables import show_json, show_table

    if as_json:
        show_json(msgspec.to_builtins(found))
    else:
        rows = [(str(item.level), item.subject, item.message, item.remedy) for item in found]
        show_table(("", "what", "finding", "remedy"), rows)
    failing = ("wrong", "hint") if strict else ("wrong",)
    return PROBLEMS_FOUND if any(item.level in failing for item in found) else 0
