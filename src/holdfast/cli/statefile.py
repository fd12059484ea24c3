"""The file of a run that waits: the instance's state, and everything that is needed to go on with it.

The file is written whole after each command and always tells the truth about the last one. A run that has ended stays in
it, with its journal, until it is deleted or another run takes its place; it cannot be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from holdfast.cli.documents import read_json, read_text, refuse_unwritable, write_file
from holdfast.cli.engines import make_engine
from holdfast.cli.failures import BadInput
from holdfast.cli.sources import STATE_FORMAT, Source, recall_source, runnable
from holdfast.engine import Holdfast
from holdfast.runtime.result import RunResult


@dataclass(frozen=True, slots=True)
class Run:
    """What a state file says of a run, beside its state."""

    workflow: Source
    others: tuple[Source, ...]
    activity_modules: tuple[str, ...]


def prepare(path: str) -> None:
    """Refuses a file that is something else; tells if a run that waits will be replaced."""
    refuse_unwritable(path)
    if not Path(path).exists() or not read_text(path).strip():
        return
    try:
        found = read_json(path)
    except BadInput:
        found = None
    if not isinstance(found, dict) or found.get("format") != STATE_FORMAT:
        raise BadInput(f"'{path}' exists and is no state of a run. Name another file, so that it is not overwritten.")
    if found.get("status") == "suspended":
        click.echo(f"Note: '{path}' holds a run that waits; it will be replaced.", err=True)


def save(path: str, run: Run, result: RunResult) -> None:
    document = {
        "format": STATE_FORMAT,
        "instance_id": result.instance_id,
        "status": str(result.status),
        "workflow": run.workflow.kept(),
        "with": [source.kept() for source in run.others],
        "activities": list(run.activity_modules),
        "state": result.state,
    }
    write_file(path, json.dumps(document, ensure_ascii=False) + "\n")


def load(path: str) -> tuple[Holdfast, Run, RunResult]:
    document = read_json(path)
    if not isinstance(document, dict) or document.get("format") != STATE_FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        told = f"format {found!r}" if found else "no format"
        raise BadInput(f"'{path}' is no state of a run ({told}). Name a file that `holdfast run --state` wrote.")
    try:
        run = Run(
            recall_source(document["workflow"]), _sources(document["with"]), tuple(map(str, document["activities"]))
        )
        engine = make_engine(run.activity_modules, run.others)
        result = engine.runner.load(document["state"], runnable(run.workflow, engine))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"'{path}' is damaged ({error!r}). Start the workflow again, or take an older copy.") from error
    return engine, run, result


def _sources(kept: Iterable[dict[str, Any]]) -> tuple[Source, ...]:
    return tuple(recall_source(item) for item in kept)
