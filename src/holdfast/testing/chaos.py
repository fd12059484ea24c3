"""Three processes fight over the same instances and are killed at random: nothing is lost, nothing happens twice.

    python -m holdfast.testing.chaos sqlite:///chaos.db --kills 100

prints one line of JSON: kills, bursts, acknowledged, lost, duplicated, violations. The database must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import msgspec
from msgspec import Struct

from holdfast.model.commit import Committed
from holdfast.model.guard import GuardKind, GuardRef, idempotency_key
from holdfast.model.listing import InstanceQuery, InstanceSort
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing.store_fighting import TENANT, next_burst
from holdfast.testing.store_processes import start

WORKERS = 3
_PATIENCE = 120.0
"""Seconds within which killed workers must have got somewhere."""


class ChaosReport(Struct, frozen=True, kw_only=True):
    kills: int
    db_crashes: int
    bursts: int
    acknowledged: int
    lost: int
    duplicated: int
    violations: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not (self.lost or self.duplicated or self.violations) and self.bursts > 0


async def chaos(
    url: str,
    *,
    kills: int,
    instances: int = 100,
    keys: int = 2000,
    bursts_per_kill: int = 50,
    crash_database: Callable[[], Awaitable[None]] | None = None,
    crashes: int = 0,
) -> ChaosReport:
    """Kill until `kills` are reached, each after some progress; `crash_database` in between, `crashes` times."""
    store = store_from_url(url)
    await store.open()
    seed = [next_burst(None, f"i{number}", f"seed-{number}") for number in range(instances)]
    assert all(isinstance(outcome, Committed) for outcome in await store.commit(seed))
    await store.close()
    with TemporaryDirectory() as folder:
        fight = _Fight(url, Path(folder), instances, keys)
        try:
            for number in range(kills):
                await fight.until_progress(bursts_per_kill)
                fight.kill_one()
                if (
                    crash_database is not None
                    and number % max(1, kills // (crashes + 1)) == 1
                    and fight.crashes < crashes
                ):
                    await crash_database()
                    fight.crashes += 1
        finally:
            fight.end()
        store = store_from_url(url)
        await store.open()
        try:
            return await _checked(store, fight, instances, keys)
        finally:
            await store.close()


class _Fight:
    """The workers, their files, and what was done to them."""

    def __init__(self, url: str, folder: Path, instances: int, keys: int) -> None:
        self._url = url
        self._folder = folder
        self._instances = instances
        self._keys = keys
        self._lives = 0
        self.kills = 0
        self.crashes = 0
        self._workers = [self._start() for _ in range(WORKERS)]

    def _start(self) -> subprocess.Popen[str]:
        self._lives += 1
        acknowledged = str(self._folder / f"{self._lives}.ack")
        Path(acknowledged).touch()
        return start(
            "fight",
            self._url,
            worker=f"w{self._lives}",
            acknowledged=acknowledged,
            instances=self._instances,
            keys=self._keys,
        )

    def kill_one(self) -> None:
        victim = random.randrange(WORKERS)
        self._end(self._workers[victim])
        self.kills += 1
        self._workers[victim] = self._start()

    def end(self) -> None:
        for worker in self._workers:
            self._end(worker)

    def _end(self, worker: subprocess.Popen[str]) -> None:
        if worker.poll() is not None:
            raise AssertionError(f"a worker ended by itself with {worker.returncode}")
        worker.kill()
        worker.communicate()

    def acknowledged(self) -> list[tuple[str, int]]:
        """What workers were told is committed; a line that a kill cut off was not read by anybody."""
        found = []
        for path in self._folder.glob("*.ack"):
            for line in path.read_bytes().splitlines(keepends=True):
                if line.endswith(b"\n"):
                    name, version = line.split()
                    found.append((name.decode(), int(version)))
        return found

    async def until_progress(self, bursts: int) -> None:
        """Until the workers together have heard of so many more commits."""
        before, until = self._written(), monotonic() + _PATIENCE
        while self._written() < before + bursts * 6:
            if monotonic() > until:
                raise AssertionError("the workers make no progress")
            await asyncio.sleep(random.uniform(0.001, 0.02))

    def _written(self) -> int:
        return sum(path.stat().st_size for path in self._folder.glob("*.ack"))


async def _checked(store: Store, fight: _Fight, instances: int, keys: int) -> ChaosReport:
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
    acknowledged = fight.acknowledged()
    return ChaosReport(
        kills=fight.kills,
        db_crashes=fight.crashes,
        bursts=len(committed),
        acknowledged=len(acknowledged),
        lost=len(set(acknowledged) - committed),
        duplicated=len(acknowledged) - len(set(acknowledged)),
        violations=tuple(violations),
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
    parser.add_argument("--bursts-per-kill", type=int, default=500)
    asked = parser.parse_args()
    report = asyncio.run(chaos(asked.url, kills=asked.kills, bursts_per_kill=asked.bursts_per_kill))
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")
    sys.exit(0 if report.sound else 1)


if __name__ == "__main__":
    main()
