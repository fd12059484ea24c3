"""A run in the terminal: output lines, `--auto-resume`, the report and the exit code."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from holdfast.cli import statefile
from holdfast.cli.failures import BAD_INPUT, INTERRUPTED, close_quietly
from holdfast.cli.report import RunLocation, as_data, summarize
from holdfast.cli.statefile import Run
from holdfast.cli.tables import show_json
from holdfast.engine import Holdfast
from holdfast.model.instance import Status
from holdfast.runtime.inline.runner import Runner
from holdfast.runtime.result import RunResult

RESUMES_MAX = 1_000
"""Limit of `--auto-resume`: a workflow that waits in an endless loop would never return, and each resumption copies the
whole instance with its journal."""

FAULTED = 1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `run` and `resume`."""

    state: str | None
    as_json: bool
    auto_resume: bool
    wait: bool


class LinePrinter:
    """Prints each line when it is committed. A closed pipe does not stop the run."""

    def __init__(self) -> None:
        self.lost: OSError | None = None

    def __call__(self, line: str) -> None:
        if self.lost is not None:
            return
        try:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except OSError as error:
            self.lost = error
            close_quietly()


def drive(
    engine: Holdfast, burst: Coroutine[Any, Any, RunResult], printer: LinePrinter, run: Run, options: RunOptions
) -> int:
    """Runs the first burst and all following ones, saves the state, reports. Returns the exit code."""

    def keep(result: RunResult) -> RunLocation | None:
        if options.state is None:
            return None
        statefile.save(options.state, run, result)
        return RunLocation(f"--state {options.state}")

    return finish(engine, lambda: _follow(engine.runner, burst, printer, options), printer, options, keep)


def finish(
    engine: Holdfast,
    work: Callable[[], Coroutine[Any, Any, tuple[RunResult, bool]]],
    printer: LinePrinter,
    options: RunOptions,
    keep: Callable[[RunResult], RunLocation | None],
) -> int:
    """Runs the work and reports. `keep` saves the run and returns its location."""
    try:
        result, ended = asyncio.run(work())
    except KeyboardInterrupt:
        if engine.runner.pools.lost:
            click.echo("Interrupted.", err=True)
            _leave_behind(INTERRUPTED)
        raise
    finally:
        engine.close()
    location = keep(result)
    if options.as_json and printer.lost is None:
        show_json(as_data(result))
        sys.stdout.flush()
    elif not options.as_json:
        summarize(result, location)
    code = _exit_code(result, printer, ended=ended)
    if engine.runner.pools.lost:
        _leave_behind(code)
    return code


def _leave_behind(code: int) -> NoReturn:
    """Exit immediately. Python would wait, possibly without end, for threads whose effects timed out or were canceled."""
    for process in multiprocessing.active_children():
        process.terminate()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


async def _follow(
    runner: Runner, burst: Coroutine[Any, Any, RunResult], printer: LinePrinter, options: RunOptions
) -> tuple[RunResult, bool]:
    """The last result, and whether `--auto-resume` reached an end."""
    result = await burst
    for _ in range(RESUMES_MAX if options.auto_resume else 0):
        waiting = result.bookmarks
        if not waiting:
            break
        result = await runner.resume(result, waiting[0], {}, wait=options.wait, on_line=printer)
    return result, not options.auto_resume or not result.bookmarks


def _exit_code(result: RunResult, printer: LinePrinter, *, ended: bool) -> int:
    if printer.lost is not None:
        reason = printer.lost.strerror or printer.lost
        click.echo(
            f"Error: The output could not be written ({reason}). The run continued without it: {result.status}.",
            err=True,
        )
        return BAD_INPUT
    if not ended:
        click.echo(
            f"Error: --auto-resume gave up after {RESUMES_MAX:,} bookmarks; the workflow keeps waiting. "
            "Resume single bookmarks instead: --state FILE, then holdfast resume --bookmark ID.",
            err=True,
        )
        return BAD_INPUT
    return FAULTED if result.status is Status.FAULTED else 0
