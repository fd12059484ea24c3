"""`holdfast activities`: list the activity types that workflows can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import activities_option, json_option

if TYPE_CHECKING:
    from holdfast.model.descriptor import ActivityDescriptor


@click.command(epilog="\b\nExample:\n  holdfast activities --activities shop.activities --json")
@json_option("Print the full descriptors as JSON.")
@activities_option
def activities(as_json: bool, activity_modules: tuple[str, ...]) -> None:
    """List the installed activity types: kind, inputs (* required), ports and outcomes."""
    from holdfast.cli.engines import make_engine
    from holdfast.cli.tables import show_json, show_table

    known = sorted(make_engine(activity_modules).documented.values(), key=lambda item: (item.category, item.type))
    if as_json:
        show_json([_as_data(item) for item in known])
    else:
        show_table(("type", "kind", "category", "inputs", "ports", "outcomes"), [_row(item) for item in known])


def _row(item: ActivityDescriptor) -> tuple[str, ...]:
    inputs = ", ".join(f"{each.name}{'*' if each.required else ''}" for each in item.inputs)
    ports = ", ".join(each.name for each in item.ports)
    outcomes = ", ".join((*item.outcomes, *(["…"] if item.dynamic_outcomes else [])))
    return item.type, str(item.kind), item.category, inputs or "-", ports or "-", outcomes or "-"


def _as_data(item: ActivityDescriptor) -> dict[str, Any]:
    return {
        "type": item.type,
        "version": item.version,
        "kind": str(item.kind),
        "display_name": item.display_name,
        "description": item.description,
        "category": item.category,
        "icon": item.icon,
        "inputs": [_value(each) for each in item.inputs],
        "outputs": [_value(each) for each in item.outputs],
        "ports": [_value(each) for each in item.ports],
        "outcomes": list(item.outcomes),
        "dynamic_outcomes": item.dynamic_outcomes,
        "trigger": item.trigger,
    }


def _value(item: Any) -> dict[str, Any]:
    """An input, output or port, without default values."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(item, enc_hook=repr)
    return found
