"""`holdfast retire`: delete or archive instances that ended long ago."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.options import json_option, store_option

if TYPE_CHECKING:
    from holdfast.engine import Holdfast
    from holdfast.persistence.archive import RetentionReport

STATUSES = ("finished", "canceled", "faulted")
INSTANCES_MAX = 10_000


@click.command(
    epilog="\b\nExample:\n  holdfast retire --older-than P30D --archive ended.jsonl.gz --store sqlite:///holdfast.db"
)
@click.option(
    "--older-than",
    "age",
    required=True,
    metavar="DURATION",
    help="Minimum time since the end: 30d, 12h, P30D.",
)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Final status; repeatable. Default: finished and canceled.",
)
@click.option(
    "--definition",
    "definitions",
    multiple=True,
    metavar="ID",
    help="Only instances of this workflow; repeatable.",
)
@click.option(
    "--archive", metavar="FILE", help="Append them to this JSON Lines file first; compressed if the name ends in .gz."
)
@click.option("--tenant", default="", metavar="ID", help="The tenant; default: the default tenant.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=INSTANCES_MAX, show_default=True, help="Maximum number of instances."
)
@click.option("--check", is_flag=True, help="Change nothing; print how many would be deleted.")
@store_option("The store; default: the setting `store`.")
@json_option("Print the figures as JSON.")
def retire(
    age: str,
    statuses: tuple[str, ...],
    definitions: tuple[str, ...],
    archive: str | None,
    tenant: str,
    limit: int,
    check: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Delete instances that ended long ago, with all their data, in small batches.

    Instances with a live parent or child stay. Idempotency keys stay for seven more days. The command can be repeated and run
    while nodes are active, for example as a cron job.
    """
    import asyncio

    from holdfast.cli.engines import make_engine
    from holdfast.cli.tables import show_json

    engine = make_engine()
    wanted = _Wanted(
        tenant, _duration(age), statuses or STATUSES[:2], definitions, _archive_file(archive), limit, check
    )
    found = asyncio.run(_retire(engine, store, wanted))
    if as_json:
        show_json({"expired": found} if isinstance(found, int) else _figures(found))
    else:
        click.echo(f"{_instances(found)} would be deleted" if isinstance(found, int) else _summary(found, archive))


@dataclass(frozen=True, slots=True)
class _Wanted:
    tenant: str
    age: timedelta
    statuses: tuple[str, ...]
    definitions: tuple[str, ...]
    archive: Path | None
    limit: int
    check: bool


async def _retire(engine: Holdfast, url: str | None, wanted: _Wanted) -> RetentionReport | int:
    """The report; for a check, the number of instances that would be deleted."""
    from holdfast.cli.existing_store import existing
    from holdfast.model.upkeep import RetentionRule
    from holdfast.persistence.archive import ArchiveFile, retire

    store = engine.store(existing(url or engine.settings.store))
    await store.open()
    try:
        rule = RetentionRule(
            finished_before=await store.now() - wanted.age,
            statuses=wanted.statuses,
            definition_ids=wanted.definitions,
        )
        if wanted.check:
            return len(await store.find_expired(wanted.tenant, rule, wanted.limit))
        archive = None if wanted.archive is None else ArchiveFile(wanted.archive)
        return await retire(store, wanted.tenant, rule, archive=archive, limit=wanted.limit)
    finally:
        await store.close()


def _duration(text: str) -> timedelta:
    """Parses a duration as settings and the API do, but accepts only positive ones."""
    from holdfast.model import durations
    from holdfast.settings import parse_duration

    try:
        age = durations.parse_duration(text)
    except (ValueError, OverflowError):
        try:
            age = parse_duration(text)
        except (ValueError, OverflowError) as error:
            raise BadInput(f"--older-than: '{text}' is not a duration. Write 30d, 12h, 5m or P30D.") from error
    if age < timedelta(0):
        raise BadInput(f"--older-than: '{text}' is not a positive duration. Give the time since the end, such as P30D.")
    return age


def _archive_file(name: str | None) -> Path | None:
    """Checked before anything is read, so that nothing is deleted that cannot be archived."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir():
        raise BadInput(f"--archive: '{name}' is a folder. Name a file in it, such as {path / 'ended.jsonl.gz'}.")
    if not path.parent.is_dir():
        raise BadInput(f"--archive: there is no folder '{path.parent}'. Create it first.")
    return path


def _figures(report: RetentionReport) -> dict[str, int]:
    return {"deleted": report.deleted, "archived": report.archived, "kept": report.kept}


def _summary(report: RetentionReport, archive: str | None) -> str:
    archived = f", archived in {archive}" if archive is not None and report.archived else ""
    kept = f"; {_instances(report.kept)} were revived meanwhile and stay" if report.kept else ""
    return f"{_instances(report.deleted)} deleted{archived}{kept}"


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count:,} instances"
