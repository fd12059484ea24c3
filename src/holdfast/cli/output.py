"""Output of operator commands: tables and JSON of API responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click
import msgspec

from holdfast.cli.tables import show_json, show_table
from holdfast.client import types as t

VALUE_LENGTH_MAX = 80


def moment(at: datetime | None) -> str:
    """In the local time zone."""
    return "" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def plain(value: Any, wide: int = VALUE_LENGTH_MAX) -> str:
    """A value on one line, truncated if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= wide else text[: wide - 1] + "…"


def show_items(
    columns: Mapping[str, Callable[[Any], str]],
    items: Sequence[Any],
    total: int | None,
    *,
    as_json: bool,
    more: bool = False,
) -> None:
    """`total` is None if it was not counted; `more` says whether there is a next page."""
    if as_json:
        show_json(msgspec.to_builtins(items))
        return
    show_table(list(columns), [[cell(item) for cell in columns.values()] for item in items])
    if total is not None and total > len(items):
        click.echo(f"{len(items)} of {total}; more with --limit", err=True)
    elif more:
        click.echo(f"the first {len(items)}; more with --limit", err=True)


def show_instance(found: t.InstanceDetail, *, as_json: bool) -> None:
    if as_json:
        show_json(msgspec.to_builtins(found))
        return
    rows = [
        ("id", found.id),
        ("definition", f"{found.definition_id} v{found.definition_version}"),
        ("status", found.status),
        ("waits for", found.waiting_for or ""),
        ("correlation", found.correlation_id or ""),
        ("parent", found.parent_id or ""),
        ("created", moment(found.created)),
        ("updated", moment(found.updated)),
        ("finished", moment(found.finished)),
        ("not shown", found.unreadable or ""),
        *state_rows(found.state),
    ]
    show_table(("what", "value"), [row for row in rows if row[1]])


def state_rows(state: t.InstanceState) -> list[tuple[str, str]]:
    """Rows of a table: label and value."""
    return [
        *((f"input {name}", plain(value)) for name, value in state.inputs.items()),
        *((f"variable {name}", plain(value)) for name, value in state.variables.items()),
        *((f"output {name}", plain(value)) for name, value in state.outputs.items()),
        *((f"bookmark {mark.id}", f"{mark.activity_id}: {mark.name}") for mark in state.bookmarks),
        *((f"incident {item.activity_id or ''}", f"{item.type}: {item.message}") for item in state.incidents),
    ]


def show_bulk(done: str, result: t.InstancesBulkResult) -> int:
    """Exit code 1 if an instance was refused."""
    left = f", {result.unchanged} unchanged" if result.unchanged else ""
    click.echo(f"{result.changed} {done}{left}")
    for failure in result.failed:
        click.echo(f"{failure.id} refused: {failure.message}", err=True)
    return 1 if result.failed else 0


def show_consumers(updated: Iterable[str], refused: Mapping[str, str]) -> None:
    """Definitions that use a published workflow as an activity: published again with it, or refused."""
    for name in updated:
        click.echo(f"{name} uses it and was published again")
    for name, reason in refused.items():
        click.echo(
            f"{name} uses it and keeps the version before, since it could not be published again: {reason}",
            err=True,
        )
