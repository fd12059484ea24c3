"""`holdfast retire`: let instances go that ended long ago."""

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
    help="Ended longer ago than this: 30d, 12h, P30D.",
)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="How they ended; may be given several times. Finished and canceled, if not given.",
)
@click.option(
    "--definition",
    "definitions",
    multiple=True,
    metavar="ID",
    help="Of this workflow only; may be given several times.",
)
@click.option(
    "--archive", metavar="FILE", help="Append them to this file of JSON lines first; compressed if it ends in .gz."
)
@click.option("--tenant", default="", metavar="ID", help="Of this tenant; of the default one, if not given.")
@click.option("--limit", type=click.IntRange(min=1), default=INSTANCES_MAX, show_default=True, help="At most so many.")
@click.option("--check", is_flag=True, help="Change nothing; say how many would go.")
@store_option("Which store; the setting `store` if it is not given.")
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
    """Delete instances that ended long ago, with everything that the store has of them, a few at a time.

    Those with a parent or child that still lives stay. Idempotency keys stay for seven days more. Safe to be called again and
    again, and while nodes are at work: put it into a cron job.
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
        click.echo(f"{_instances(found)} would go" if isinstance(found, int) else _summary(found, archive))


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
    """What was done; for a check, how many would go."""
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
    """As settings and the API take it; zero and below are not theirs."""
    from holdfast.model import durations
    from holdfast.settings import parse_duration

    try:
        age = durations.parse_duration(text)
    except (ValueError, OverflowError):
        try:
            age = parse_duration(text)
        except (ValueError, OverflowError) as error:
            raise BadInput(f"--older-than: '{text}' is no duration. Write 30d, 12h, 5m or P30D.") from error
    if age < timedelta(0):
        raise BadInput(f"--older-than: '{text}' lies in the future. Say how long ago they ended, as in P30D.")
    return age


def _archive_file(name: str | None) -> Path | None:
    """Looked at before anything is read: nothing is deleted that cannot be archived."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir():
        raise BadInput(f"--archive: '{name}' is a folder. Name a file in it, such as {path / 'ended.jsonl.gz'}.")
    if not path.parent.is_dir():
        raise BadInput(f"--archive: there is no folder '{path.parent}'. Make it first.")
    return path


def _figures(report: RetentionReport) -> dict[str, int]:
    return {"deleted": report.deleted, "archived": report.archived, "kept": report.kept}


def _summary(report: RetentionReport, archive: str | None) -> str:
    archived = f", archived in {archive}" if archive is not None and report.archived else ""
    kept = f"; {_instances(report.kept)} came back to life meanwhile and stayed" if report.kept else ""
    return f"{_instances(report.deleted)} gone{archived}{kept}"


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count:,} instances"
