"""Three nodes fight over the same instances through the runtime and are killed at random; afterwards everything must fit.

    python -m holdfast.testing.runtime_chaos sqlite:///chaos.db --kills 100

Lost is an acknowledged resume or start that the states do not know; duplicated is one that they know twice, or an attempt of
an effect that ran twice; violations are tables that disagree. The database must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import msgspec

from holdfast.model.instance import BookmarkKind, JournalEvent, Status
from holdfast.model.listing import InstanceQuery, InstanceSort
from holdfast.persistence import store_from_url
from holdfast.runtime.durable.runtime import Runtime
from holdfast.testing.chaos import ChaosReport
from holdfast.testing.runtime_fighting import CHARGES, TENANT, node_on, workflow
from holdfast.testing.store_processes import start

WORKERS = 3
_PATIENCE = 60.0
"""Seconds within which killed workers must have got somewhere, and the last one must have tidied up."""

Crash = Callable[[], Awaitable[None]]


async def runtime_chaos(
    url: str,
    *,
    kills: int,
    instances: int = 60,
    keys: int = 200,
    resumes_per_kill: int = 40,
    crash_database: Crash | None = None,
    crashes: int = 0,
) -> ChaosReport:
    """Kill until `kills` are reached, each after some progress; `crash_database` in between, `crashes` times."""
    await _seed(url, instances)
    with TemporaryDirectory() as folder:
        fight = _Fight(url, Path(folder), instances, keys)
        try:
            for number in range(kills):
                await fight.until_progress(resumes_per_kill)
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
        return await _checked(url, fight)


async def dies_at(url: str, fault: str, *, instances: int = 6) -> ChaosReport:
    """One worker dies at a named point of the commit path (`commit.written:40`: the 40th time); another one goes on."""
    await _seed(url, instances)
    with TemporaryDirectory() as folder:
        fight = _Fight(url, Path(folder), instances, keys=5, workers=1, fault=fault)
        try:
            await fight.until_dead()
        finally:
            fight.end()
        return await _checked(url, fight)


async def _seed(url: str, instances: int) -> None:
    store = store_from_url(url)
    await store.open()
    async with node_on(store, "seed") as runtime:
        flow = workflow()
        for number in range(instances):
            await runtime.start(flow, {"naps": number % 4 == 0}, instance_id=f"i{number}")
    await store.close()


class _Fight:
    """The workers, their files, and what was done to them."""

    def __init__(
        self, url: str, folder: Path, instances: int, keys: int, *, workers: int = WORKERS, fault: str = ""
    ) -> None:
        self._url = url
        self._fault = fault
        self._folder = folder
        self._arguments = {"instances": instances, "keys": keys}
        self.charges = folder / "charges"
        self.charges.touch()
        os.environ[CHARGES] = str(self.charges)
        self._lives = 0
        self.kills = 0
        self.crashes = 0
        self._workers = [self._start() for _ in range(workers)]

    def _start(self) -> subprocess.Popen[str]:
        self._lives += 1
        acknowledged = self._folder / f"{self._lives}.ack"
        acknowledged.touch()
        return start(
            "fight_on",
            self._url,
            fault=self._fault,
            worker=f"w{self._lives}",
            acknowledged=str(acknowledged),
            **self._arguments,
        )

    def kill_one(self) -> None:
        victim = random.randrange(WORKERS)
        self._end(self._workers[victim])
        self.kills += 1
        self._workers[victim] = self._start()

    def end(self) -> None:
        for worker in self._workers:
            self._end(worker)

    @staticmethod
    def _end(worker: subprocess.Popen[str]) -> None:
        worker.kill()
        worker.communicate()

    async def until_dead(self) -> None:
        """The only worker reaches its fault."""
        worker, until = self._workers[0], monotonic() + _PATIENCE
        while worker.poll() is None:
            if monotonic() > until:
                raise AssertionError("the worker does not reach its fault")
            await asyncio.sleep(0.01)
        if worker.returncode != -signal.SIGKILL:
            raise AssertionError(f"the worker ended by itself with {worker.returncode}")
        self.kills += 1

    async def until_progress(self, resumes: int) -> None:
        before, until = self._lines(), monotonic() + _PATIENCE
        while self._lines() < before + resumes:
            ended = [worker.returncode for worker in self._workers if worker.poll() is not None]
            if ended:
                raise AssertionError(f"a worker ended by itself with {ended}")
            if monotonic() > until:
                raise AssertionError("the workers make no progress")
            await asyncio.sleep(random.uniform(0.005, 0.03))

    def _lines(self) -> int:
        return sum(path.stat().st_size for path in self._folder.glob("*.ack")) // 12

    def acknowledged(self) -> list[tuple[str, str]]:
        """(instance, token), or (key, instance)."""
        found = []
        for path in self._folder.glob("*.ack"):
            for line in path.read_text().splitlines():
                what, _, whose = line.partition(" ")
                found.append((what, whose))
        return found


# -- afterwards --------------------------------------------------------------------------------------------------------


async def _checked(url: str, fight: _Fight) -> ChaosReport:
    store = store_from_url(url)
    await store.open()
    try:
        async with node_on(store, "last") as runtime:
            runtime.node.take_work()
            ids = await _all_waiting(runtime)
            return await _compared(runtime, ids, fight)
    finally:
        await store.close()


async def _all_waiting(runtime: Runtime) -> list[str]:
    """The last node takes over what the dead ones left, until every instance waits for its next event."""
    store, until, seen = runtime.node.store, monotonic() + _PATIENCE, 0
    query = InstanceQuery(tenant=TENANT, sort=InstanceSort.ID, descending=False, limit=100_000)
    while True:
        items = (await store.search(query)).items
        busy = [item.id for item in items if item.status != Status.SUSPENDED or await _naps(runtime, item.id)]
        if not busy:
            return [item.id for item in items]
        for item in items:
            if item.status == Status.FAULTED:
                await _retry(runtime, item.id)
        if monotonic() > until:
            told = [await _explained(runtime, name) for name in busy]
            raise AssertionError(f"instances do not come to rest: {told}")
        seen = await store.wait_for_change(seen, timedelta(seconds=1))


async def _retry(runtime: Runtime, identity: str) -> None:
    """An effect that died with its process three times in a row is a fault, rightly (rule H15): somebody retries it."""
    result = await runtime.read(identity)
    if result.status is Status.FAULTED and all(item.type == "EffectLost" for item in result.incidents):
        await runtime.retry(identity)


async def _explained(runtime: Runtime, identity: str) -> str:
    result = await runtime.read(identity)
    effects = [(row.execution, row.attempt, row.owner) for row in await runtime.node.store.effects_of(TENANT, identity)]
    state = [(item.execution_id, item.attempt) for item in result._live.effects.values()]
    works = runtime.node.works_on(identity)
    return (
        f"{identity} {result.status} {[item.message for item in result.incidents]} rows {effects} state {state} {works}"
    )


async def _naps(runtime: Runtime, identity: str) -> bool:
    return any(mark.type != "Event" for mark in await runtime.node.store.bookmarks_of(TENANT, identity))


async def _compared(runtime: Runtime, ids: list[str], fight: _Fight) -> ChaosReport:
    violations: list[str] = []
    tokens: list[tuple[str, str]] = []
    bursts = 0
    for identity in ids:
        found, version, wrong = await _one(runtime, identity)
        tokens += [(identity, token) for token in found]
        bursts += version
        violations += wrong
    stuck = [key.id for key in await runtime.node.store.find_stuck(10) if key.tenant == TENANT]
    letters = await runtime.node.store.list_dead_letters(TENANT)
    violations += [f"{name} stuck" for name in stuck] + [f"dead letter {letter.work.id}" for letter in letters]
    told = fight.acknowledged()
    resumed = {pair for pair in told if not pair[0].startswith("key:")}
    started = [pair for pair in told if pair[0].startswith("key:")]
    lost = [*(resumed - set(tokens)), *((key, name) for key, name in started if name not in set(ids))]
    if lost:
        sys.stderr.write(f"lost: {lost}\n")
    again = [key for key, times in Counter(key for key, _ in started).items() if times > 1]
    attempts = [each for each, times in Counter(fight.charges.read_text().splitlines()).items() if times > 1]
    return ChaosReport(
        kills=fight.kills,
        db_crashes=fight.crashes,
        bursts=bursts,
        acknowledged=len(told),
        lost=len(lost),
        duplicated=len(tokens) - len(set(tokens)) + len(again) + len(attempts),
        violations=tuple(violations),
    )


async def _one(runtime: Runtime, identity: str) -> tuple[list[str], int, list[str]]:
    """Tokens and version of an instance, and what does not fit."""
    store = runtime.node.store
    result = await runtime.read(identity)
    live, tokens = result._live, result.variables["tokens"]
    export = await store.export_instance(TENANT, identity)
    journal = await runtime.journal(identity, limit=1_000_000)
    assert export is not None
    version = export.instance.version
    events = Counter(entry.event for entry in journal)
    results = Counter(entry.execution_id for entry in journal if entry.event is JournalEvent.EFFECT_RESULT)
    waits = {int(key[1:]) for key, mark in live.bookmarks.items() if mark.kind is BookmarkKind.ACTIVITY}
    checks = {
        "counter": result.variables["count"] == len(tokens),
        "version": live.commits == version == max(segment.version for segment in export.journal),
        "journal": [entry.sequence for entry in journal] == list(range(len(journal))),
        "resumes": events[JournalEvent.RESUMED] in (len(tokens), 2 * len(tokens)),
        "effects": not results or (len(results) == len(tokens) and max(results.values()) == 1),
        "effect rows": not export.effects and not live.effects,
        "bookmarks": {mark.seq for mark in export.bookmarks} == waits and len(waits) == 1,
        "work": not export.work,
    }
    return tokens, version, [f"{identity} {name}" for name, holds in checks.items() if not holds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--resumes-per-kill", type=int, default=150)
    asked = parser.parse_args()
    report = asyncio.run(runtime_chaos(asked.url, kills=asked.kills, resumes_per_kill=asked.resumes_per_kill))
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")
    sys.exit(0 if report.sound else 1)


if __name__ == "__main__":
    main()
