"""Chaos test of a store: three processes compete for the same instances and are killed at random.

    python -m tests.support.chaos.store_chaos sqlite:///chaos.db --kills 100

prints one line of JSON: kills, bursts, acknowledged, lost, duplicated, violations. The database must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from holdfast.model.commit import Committed
from holdfast.model.guard import GuardKind, GuardRef, idempotency_key
from holdfast.model.listing import InstanceQuery, InstanceSort
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from tests.support.chaos.contention import ChaosReport, Crash, Fight
from tests.support.chaos.store_contender import TENANT, next_burst


async def chaos(
    url: str,
    *,
    kills: int,
    bursts: int,
    instances: int = 100,
    keys: int = 2000,
    crash_database: Crash | None = None,
    crashes: int = 0,
) -> ChaosReport:
    """Kill so often while at least so many bursts are acknowledged; `crash_database` in between, `crashes` times."""
    store = store_from_url(url)
    await store.open()
    seed = [next_burst(None, f"i{number}", f"seed-{number}") for number in range(instances)]
    assert all(isinstance(outcome, Committed) for outcome in await store.commit(seed))
    await store.close()
    with TemporaryDirectory() as folder:
        fight = Fight("contend_for_store", url, Path(folder), instances=instances, keys=keys)
        try:
            await fight.rounds(kills, bursts, crash_database, crashes)
        finally:
            fight.end()
        store = store_from_url(url)
        await store.open()
        try:
            return await _checked(store, fight, instances, keys)
        finally:
            await store.close()


async def _checked(store: Store, fight: Fight, instances: int, keys: int) -> ChaosReport:
    page = await store.search(
        InstanceQuery(tenant=TENANT, sort=InstanceSort.ID, descending=False, limit=instances + 10 * keys)
    )
    violations: list[str] = []
    committed: set[tuple[str, int]] = set()
    for row in page.items:
        segments = [segment.version for segment in await store.read_journal(TENANT, row.id, limit=1_000_000)]
        committed |= {(row.id, version) for version in segments}
        export = await store.export_instance(TENANT, row.id)
        assert export is not None
        checks = {
            "journal": segments == list(range(1, row.version + 1)),
            "counter": int(export.instance.state) == row.version,
            "bookmark": [mark.seq for mark in export.bookmarks] == [row.version],
            "timer": [timer.id for timer in export.work] == [f"{row.id}.{row.version}"],
        }
        violations += [f"{row.id} {name}" for name, holds in checks.items() if not holds]
    violations += await _guards(store, {row.id for row in page.items}, keys)
    if (await store.stats(TENANT)).outbox != len(committed):
        violations.append("outbox")
    acknowledged = [(name, int(version)) for name, version in fight.acknowledged()]
    lost = set(acknowledged) - committed
    twice = [burst for burst, times in Counter(acknowledged).items() if times > 1]
    return ChaosReport(
        kills=fight.kills,
        db_crashes=fight.crashes,
        bursts=len(committed),
        acknowledged=len(acknowledged),
        lost=len(lost),
        duplicated=len(twice),
        violations=tuple(violations),
        evidence=(*(f"lost {burst}" for burst in sorted(lost)), *(f"twice {burst}" for burst in twice)),
    )


async def _guards(store: Store, existing: set[str], keys: int) -> list[str]:
    """Each key has one instance, each started instance its key."""
    started = {name for name in existing if name.startswith("start-")}
    held: set[str] = set()
    for key in range(keys):
        guard = idempotency_key(operation="start", target="chaos", key=str(key))
        row = await store.find_guard(TENANT, GuardRef(GuardKind.KEY, guard.name))
        if row is not None:
            held.add(row.instance_id)
    return [f"key {name}" for name in sorted(started ^ held)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--bursts", type=int, default=50_000)
    asked = parser.parse_args()
    report = asyncio.run(chaos(asked.url, kills=asked.kills, bursts=asked.bursts))
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")
    sys.exit(0 if report.sound else 1)


if __name__ == "__main__":
    main()
