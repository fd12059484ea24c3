"""State file of a run: the instance's state, and everything needed to continue it.

The file is rewritten after each command and reflects the last one. A run that has ended stays in it, with its journal,
until the file is deleted or another run replaces it; it cannot be resumed.
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
from holdfast.cli.sources import STATE_FORMAT, Source, load_source, runnable
from holdfast.engine import Holdfast
from holdfast.runtime.result import RunResult


@dataclass(frozen=True, slots=True)
class Run:
    """Metadata of a run in a state file, next to its state."""

    workflow: Source
    others: tuple[Source, ...]
    activity_modules: tuple[str, ...]


def prepare(path: str) -> None:
    """Refuses to overwrite a file that is no state file; warns if a suspended run will be replaced."""
    refuse_unwritable(path)
    if not Path(path).exists() or not read_text(path).strip():
        return
    try:
        found = read_json(path)
    except BadInput:
        found = None
    if not isinstance(found, dict) or found.get("format") != STATE_FORMAT:
        raise BadInput(f"'{path}' exists and is not a state file. Name another file, so that it is not overwritten.")
    if found.get("status") in ("suspended", "canceling"):
        click.echo(f"Note: '{path}' contains a suspended run; it will be replaced.", err=True)


def save(path: str, run: Run, result: RunResult) -> None:
    document = {
        "format": STATE_FORMAT,
        "instance_id": result.instance_id,
        "status": str(result.status),
        "workflow": run.workflow.saved(),
        "with": [source.saved() for source in run.others],
        "activities": list(run.activity_modules),
        "state": result.state,
    }
    write_file(path, json.dumps(document, ensure_ascii=False) + "\n")


def load(path: str) -> tuple[Holdfast, Run, RunResult]:
    document = read_json(path)
    if not isinstance(document, dict) or document.get("format") != STATE_FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        format_text = f"format {found!r}" if found else "no format"
        raise BadInput(f"'{path}' is not a state file ({format_text}). Name a file written by `holdfast run --state`.")
    try:
        run = Run(
            load_source(document["workflow"]), _sources(document["with"]), tuple(map(str, document["activities"]))
        )
        engine = make_engine(run.activity_modules, run.others)
        result = engine.runner.load(document["state"], runnable(run.workflow, engine))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"'{path}' is damaged ({error!r}). Start the workflow again, or restore an older copy."
        ) from error
    return engine, run, result


def _sources(saved: Iterable[dict[str, Any]]) -> tuple[Source, ...]:
    return tuple(load_source(item) for item in saved)
