"""`holdfast resume`: continue a stored run, from a state file or a store."""

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
@click.option("--state", metavar="FILE", help="State file written by `holdfast run --state`; it is updated.")
@store_option("The store with INSTANCE, as in `holdfast run --store`.")
@click.option("--bookmark", metavar="ID", help="The bookmark, if there are several; the id of its activity works too.")
@click.option("--input", "given", metavar="JSON|@FILE", help="Payload for the bookmark: any JSON.")
@with_option
@activities_option
@auto_resume_option
@wait_option
@json_option("Print one line of JSON at the end, like `holdfast run --json`.")
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
    """Resume a bookmark and continue: INSTANCE of a store, or the run of a state file.

    A state file is self-contained and is updated; a workflow named MODULE:NAME is imported again. With a store, work left by a
    process that died is taken over first. If there was any and neither --bookmark nor --input is given, the command stops
    there. An instance that waits only for a timer is resumed early, or at its time with --wait. --with and --activities load
    the code that a stored workflow uses. Exit codes as for `run`.
    """
    from holdfast.cli import stored_run
    from holdfast.cli.engines import make_engine
    from holdfast.cli.existing_store import existing
    from holdfast.cli.inputs import read_payload
    from holdfast.cli.sources import open_source
    from holdfast.cli.terminal_run import LinePrinter, RunOptions

    if (state is None) == (store is None) or (instance is None) != (store is None):
        raise BadInput("Name the run to resume: --state FILE, or INSTANCE and --store URL.")
    payload = read_payload(given)
    if auto_resume and given is None:
        payload = {}
    options = RunOptions(state, as_json, auto_resume, wait)
    printer = LinePrinter()
    if state is not None:
        if others or activity_modules:
            raise BadInput("A state file names its own workflows and activities. Omit --with and --activities.")
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
    """True if --input was given."""


def waits_for_time(waiting: RunResult) -> bool:
    """Whether it waits only for timers."""
    return bool(waiting.bookmarks) and all(item.due is not None for item in waiting.bookmarks)


def warn_if_early(bookmark: Bookmark, now: datetime) -> None:
    """Reports a timer that is cut short, in case the user wanted to wait."""
    if bookmark.due is not None and bookmark.due > now:
        due = bookmark.due.isoformat(timespec="seconds")
        click.echo(f"Resumed early: {bookmark.id} is due {due}. Use --wait to wait for it.", err=True)


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
    """The chosen bookmark; `BadInput` if there is none. `retry` is the command that retries failed activities."""
    from holdfast.cli.report import described
    from holdfast.model.instance import Status

    bookmarks = waiting.bookmarks
    if waiting.status.at_rest:
        again = retry is not None and waiting.status is Status.FAULTED
        remedy = f"Retry it: {retry}" if again else "Start the workflow again."
        raise BadInput(f"{name} is {waiting.status} and cannot be resumed. {remedy}")
    if not bookmarks:
        reason = "; ".join(item.message for item in waiting.incidents) or "see its journal"
        raise BadInput(f"{name} has no bookmark to resume: {reason}")
    if wanted is None and (len(bookmarks) == 1 or any_will_do):
        return bookmarks[0]
    named = [item for item in bookmarks if item.id == wanted]
    found = named or [item for item in bookmarks if item.activity_id == wanted]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {described(item)}" for item in bookmarks)
    problem = "It waits at several bookmarks" if wanted is None or found else f"There is no bookmark '{wanted}'"
    raise BadInput(f"{problem}. Name one with --bookmark:{listed}")
