"""Report of a run: one JSON line for programs, a few lines for people."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import click

from holdfast.model.instance import Bookmark, Incident, Status
from holdfast.model.values import readable, shown
from holdfast.runtime.result import RunResult

_COLORS = {
    Status.FINISHED: "green",
    Status.SUSPENDED: "yellow",
    Status.FAULTED: "red",
    Status.CANCELING: "yellow",
    Status.CANCELED: "yellow",
}


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Location of a stored run, as options of the commands that continue it."""

    resume: str
    """Options of `holdfast resume`."""
    retry: str | None = None
    """Options of `holdfast instances retry`; None if only `holdfast run` can start again."""
    worker: str | None = None
    """Options of `holdfast worker`; None if no worker can find the run."""


def as_data(result: RunResult) -> dict[str, Any]:
    return {
        "instance_id": result.instance_id,
        "status": str(result.status),
        "outputs": shown(result.outputs),
        "variables": shown(result.variables),
        "incidents": [_incident(item) for item in result.incidents],
        "bookmarks": [_bookmark(item) for item in result.bookmarks],
    }


def _incident(item: Incident) -> dict[str, Any]:
    return {
        "id": item.id,
        "type": item.type,
        "message": item.message,
        "at": item.at.isoformat(),
        "activity_id": item.activity_id,
        "activity_type": item.activity_type,
        "activity_name": item.activity_name,
        "attempt": item.attempt,
        "source": item.source,
        "inputs": readable(dict(item.inputs)),
        "details": shown(dict(item.details)),
    }


def _bookmark(item: Bookmark) -> dict[str, Any]:
    return {
        "id": item.id,
        "name": item.name,
        "activity_id": item.activity_id,
        "kind": str(item.kind),
        "payload": shown(item.payload),
        "due": item.due.isoformat() if item.due else None,
    }


def summarize(result: RunResult, location: RunLocation | None) -> None:
    """Printed on stderr, so that stdout has only the workflow's output. Without a terminal, a success without outputs prints
    nothing."""
    if result.status is Status.FINISHED and not result.incidents and not result.outputs and not sys.stderr.isatty():
        return
    status = click.style(str(result.status), fg=_COLORS.get(result.status), bold=True)
    click.echo(f"{status}  instance {result.instance_id}", err=True)
    for name, value in result.outputs.items():
        click.echo(f"  output {name} = {json.dumps(shown(value), ensure_ascii=False)}", err=True)
    for incident in result.incidents:
        click.echo(f"  incident {_incident_line(incident)}", err=True)
    for bookmark in result.bookmarks:
        click.echo(f"  waits at {described(bookmark)}", err=True)
    remedy = _remedy(result, location)
    if remedy:
        click.echo(remedy, err=True)


def described(bookmark: Bookmark) -> str:
    payload = (
        f" {json.dumps(shown(bookmark.payload), ensure_ascii=False)}" if bookmark.payload and not bookmark.due else ""
    )
    due = f", due {bookmark.due.isoformat(timespec='seconds')}" if bookmark.due else ""
    return f"{bookmark.id}: {bookmark.name}{payload} (activity {bookmark.activity_id}{due})"


def _incident_line(incident: Incident) -> str:
    place = f"{incident.activity_id}: " if incident.activity_id else ""
    source = f" ({incident.source})" if incident.source else ""
    return f"{place}{incident.type}: {incident.message}{source}"


def _remedy(result: RunResult, location: RunLocation | None) -> str:
    if location is None and result.bookmarks:
        due = any(item.due for item in result.bookmarks)
        return (
            "The state was not saved. Run with --state FILE to resume it later"
            f"{', with --wait to wait until it is due' if due else ''}, or with --auto-resume."
        )
    if location is not None and result.bookmarks:
        bookmark = f" --bookmark {result.bookmarks[0].id}" if len(result.bookmarks) > 1 else ""
        if location.worker is not None and all(item.due for item in result.bookmarks):
            return (
                f"A worker continues it at that time: holdfast worker {location.worker}\n"
                f"To continue now: holdfast resume {location.resume}{bookmark}"
            )
        return f"Resume it: holdfast resume {location.resume}{bookmark} [--input JSON]"
    if result.status is Status.FAULTED and location is not None and location.retry is not None:
        return f"Fix the cause, then retry: holdfast instances retry {location.retry}"
    if result.status is Status.FAULTED:
        return "Fix the cause and run it again; --json prints the incidents with their inputs."
    return ""
