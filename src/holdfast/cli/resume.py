"""`holdfast resume`: go on with a run that was kept, in a file or in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.options import (
    activities_option,
    auto_resume_option,
    json_option,
    store_option,
    wait_option,
    with_option,
)

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.cli.terminal_run import LinePrinter, RunOptions
    from holdfast.model.instance import Bookmark
    from holdfast.runtime.result import RunResult


@click.command(
    epilog="\b\nExample:\n  holdfast resume --state order.state --bookmark b1 --input '\"yes\"'"
    "\n  holdfast resume 6GY2Z2HWR0400 --store sqlite:///holdfast.db"
)
@click.argument("instance", required=False)
@click.option("--state", metavar="FILE", help="What `holdfast run --state` wrote; it is updated.")
@store_option("The store that `holdfast run --store` kept INSTANCE in.")
@click.option("--bookmark", metavar="ID", help="Which one, if it waits at several; the activity's id will do.")
@click.option("--input", "given", metavar="JSON|@FILE", help="What the bookmark waited for: any JSON.")
@with_option
@activities_option
@auto_resume_option
@wait_option
@json_option("End with one line of JSON, as `holdfast run --json` does.")
@click.pass_context
def resume(
    ctx: click.Context,
    instance: str | None,
    state: str | None,
    store: str | None,
    bookmark: str | None,
    given: str | None,
    others: tuple[str, ...],
    activity_modules: tuple[str, ...],
    auto_resume: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Resume a bookmark and run on: INSTANCE of a store, or the run of a state file.

    A state file is updated, and holds all that is needed; a workflow that was named MODULE:NAME is imported again. With a
    store, what a process that died left undone is taken over first; where there was any, and no --bookmark or --input is
    given, that is all. An instance that waits for its time only is waited for with --wait, else resumed early.
    --with and --activities bring what a stored workflow uses. Exit code as for `run`.
    """
    from holdfast.cli import stored_run
    from holdfast.cli.engines import make_engine
    from holdfast.cli.existing_store import existing
    from holdfast.cli.inputs import read_payload
    from holdfast.cli.sources import open_source
    from holdfast.cli.terminal_run import LinePrinter, RunOptions

    if (state is None) == (store is None) or (instance is None) != (store is None):
        raise BadInput("Missing option '--state', or INSTANCE and '--store'. Say what to resume.")
    payload = read_payload(given)
    if auto_resume and given is None:
        payload = {}
    options = RunOptions(state, as_json, auto_resume, wait)
    printer = LinePrinter()
    if state is not None:
        if others or activity_modules:
            raise BadInput("A state file names its workflows and activities itself. Leave --with and --activities out.")
        chosen = BookmarkChoice(bookmark, payload, is_given=given is not None)
        ctx.exit(_from_file(state, chosen, options, printer))
    assert instance is not None
    assert store is not None
    existing(store)
    engine = make_engine(activity_modules, map(open_source, others))
    wanted = stored_run.Wanted(instance, bookmark, payload, is_given=given is not None)
    place = stored_run.Place(store, activity_modules, others)
    ctx.exit(stored_run.resume(engine, place, wanted, printer, options))


class BookmarkChoice(NamedTuple):
    bookmark: str | None
    payload: object
    is_given: bool
    """Somebody wrote --input."""


def waits_for_time(waiting: RunResult) -> bool:
    """And for nothing else."""
    return bool(waiting.bookmarks) and all(item.due is not None for item in waiting.bookmarks)


def warn_if_early(bookmark: Bookmark, now: datetime) -> None:
    """A timer that is cut short is told: perhaps somebody meant to wait."""
    if bookmark.due is not None and bookmark.due > now:
        due = bookmark.due.isoformat(timespec="seconds")
        click.echo(f"Resumed before its time: {bookmark.id} is due {due}. With --wait it is waited for.", err=True)


def _from_file(state: str, wanted: BookmarkChoice, options: RunOptions, printer: LinePrinter) -> int:
    from holdfast.cli import statefile
    from holdfast.cli.documents import refuse_unwritable
    from holdfast.cli.terminal_run import drive

    refuse_unwritable(state)
    engine, kept, waiting = statefile.load(state)
    if options.wait and wanted.bookmark is None and not wanted.is_given and waits_for_time(waiting):
        return drive(engine, engine.runner.wait_out(waiting, on_line=printer), printer, kept, options)
    any_will_do = options.auto_resume and not wanted.is_given
    chosen = choose(waiting, wanted.bookmark, f"The run in '{state}'", any_will_do=any_will_do)
    if not options.auto_resume:
        warn_if_early(chosen, engine.clock.now())
    burst = engine.runner.resume(waiting, chosen, wanted.payload, wait=options.wait, on_line=printer)
    return drive(engine, burst, printer, kept, options)


def choose(
    waiting: RunResult, wanted: str | None, name: str, *, any_will_do: bool, retry: str | None = None
) -> Bookmark:
    """The bookmark that is meant, or why there is none. `retry` is the command that runs again what failed."""
    from holdfast.cli.report import described
    from holdfast.model.instance import Status

    bookmarks = waiting.bookmarks
    if waiting.status.at_rest:
        again = retry is not None and waiting.status is Status.FAULTED
        remedy = f"Run what failed again: {retry}" if again else "Start the workflow again."
        raise BadInput(f"{name} is {waiting.status} and cannot be resumed. {remedy}")
    if not bookmarks:
        told = "; ".join(item.message for item in waiting.incidents) or "its journal is kept with it"
        raise BadInput(f"{name} waits at no bookmark that can be resumed: {told}")
    if wanted is None and (len(bookmarks) == 1 or any_will_do):
        return bookmarks[0]
    named = [item for item in bookmarks if item.id == wanted]
    found = named or [item for item in bookmarks if item.activity_id == wanted]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {described(item)}" for item in bookmarks)
    problem = "It waits at several bookmarks" if wanted is None or found else f"There is no bookmark '{wanted}'"
    raise BadInput(f"{problem}. Name one with --bookmark:{listed}")
