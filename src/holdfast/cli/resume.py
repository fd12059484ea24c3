"""`holdfast resume`: go on with a run whose state was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.options import auto_resume_option, json_option, wait_option

if TYPE_CHECKING:
    from holdfast.model.instance import Bookmark
    from holdfast.runtime.result import RunResult


@click.command(epilog="\b\nExample:\n  holdfast resume --state order.state --bookmark b1 --input '\"yes\"'")
@click.option("--state", required=True, metavar="FILE", help="What `holdfast run --state` wrote; it is updated.")
@click.option("--bookmark", metavar="ID", help="Which one, if it waits at several; the activity's id will do.")
@click.option("--input", "given", metavar="JSON|@FILE", help="What the bookmark waited for: any JSON.")
@auto_resume_option
@wait_option
@json_option("End with one line of JSON, as `holdfast run --json` does.")
@click.pass_context
def resume(
    ctx: click.Context,
    state: str,
    bookmark: str | None,
    given: str | None,
    auto_resume: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Resume a bookmark and run on. The state file is updated; a run that has ended stays in it and is not resumed again.

    A workflow that was named MODULE:NAME is imported again; everything else is in the file. Exit code as for `run`.
    """
    from holdfast.cli import statefile
    from holdfast.cli.bursts import LinePrinter, Wishes, drive
    from holdfast.cli.documents import refuse_unwritable
    from holdfast.cli.inputs import read_payload

    payload = read_payload(given)
    refuse_unwritable(state)
    engine, kept, waiting = statefile.load(state)
    chosen = _choose(waiting, bookmark, state, any_will_do=auto_resume and given is None)
    printer = LinePrinter()
    if auto_resume and given is None:
        payload = {}
    burst = engine.runner.resume(waiting, chosen, payload, wait=wait, on_line=printer)
    ctx.exit(drive(engine, burst, printer, kept, Wishes(state, as_json, auto_resume, wait)))


def _choose(waiting: RunResult, wanted: str | None, state: str, *, any_will_do: bool) -> Bookmark:
    from holdfast.cli.report import described

    bookmarks = waiting.bookmarks
    if waiting.status.at_rest:
        raise BadInput(f"The run in '{state}' is {waiting.status} and cannot be resumed. Start the workflow again.")
    if not bookmarks:
        told = "; ".join(item.message for item in waiting.incidents) or "its journal is in the file"
        raise BadInput(f"The run in '{state}' waits at no bookmark that can be resumed: {told}")
    if wanted is None and (len(bookmarks) == 1 or any_will_do):
        return bookmarks[0]
    named = [item for item in bookmarks if item.id == wanted]
    found = named or [item for item in bookmarks if item.activity_id == wanted]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {described(item)}" for item in bookmarks)
    problem = "It waits at several bookmarks" if wanted is None or found else f"There is no bookmark '{wanted}'"
    raise BadInput(f"{problem}. Name one with --bookmark:{listed}")
