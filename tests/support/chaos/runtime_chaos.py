"""Chaos test of the runtime: three nodes compete for the same instances and are killed at random.

    python -m tests.support.chaos.runtime_chaos sqlite:///chaos.db --kills 100

`lost` counts acknowledged resumes and starts that no state contains, `duplicated` those that a state contains twice and attempts
of an effect that ran twice, `violations` tables that disagree. The database must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import msgspec

from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import BookmarkKind, JournalEvent, Status
from holdfast.model.listing import InstanceQuery, InstanceSort
from holdfast.persistence import store_from_url
from tests.support.chaos.contention import ChaosReport, Crash, Fight
from tests.support.chaos.runtime_contender import CHARGES, STRATEGY, TENANT, node_on, workflow
from tests.support.node import node_of

_PATIENCE = 120.0
"""Seconds within which the last node must have tidied up."""
_ROLE = "contend_through_runtime"


async def runtime_chaos(
    url: str,
    *,
    kills: int,
    resumes: int,
    instances: int = 60,
    keys: int = 200,
    crash_database: Crash | None = None,
    crashes: int = 0,
    strategy: str = "",
) -> ChaosReport:
    """Kill so often while at least so many resumes are acknowledged; `crash_database` in between, `crashes` times.

    All workers use the commit strategy `strategy`.
    """
    os.environ[STRATEGY] = strategy
    await _seed(url, instances)
    with TemporaryDirectory() as folder:
        charges = _charges(Path(folder))
        fight = Fight(_ROLE, url, Path(folder), instances=instances, keys=keys)
        try:
            await fight.rounds(kills, resumes, crash_database, crashes)
        finally:
            fight.end()
        return await _checked(url, fight, charges)


async def dies_at(url: str, fault: str, *, instances: int = 6, strategy: str = "") -> ChaosReport:
    """One worker dies at a named point of the commit path (`commit.written:40`: the 40th time); another one goes on."""
    os.environ[STRATEGY] = strategy
    await _seed(url, instances)
    with TemporaryDirectory() as folder:
        charges = _charges(Path(folder))
        fight = Fight(_ROLE, url, Path(folder), workers=1, fault=fault, instances=instances, keys=5)
        try:
            await fight.until_dead()
        finally:
            fight.end()
        return await _checked(url, fight, charges)


def _charges(folder: Path) -> Path:
    """The file that attempts of effects are written to."""
    charges = folder / "charges"
    charges.touch()
    os.environ[CHARGES] = str(charges)
    return charges


async def _seed(url: str, instances: int) -> None:
    store = store_from_url(url)
    await store.open()
    async with node_on(store, "seed") as runtime:
        flow = workflow()
        for number in range(instances):
            await runtime.start(flow, {"naps": number % 4 == 0}, instance_id=f"i{number}")
    await store.close()


# -- afterwards --------------------------------------------------------------------------------------------------------


async def _checked(url: str, fight: Fight, charges: Path) -> ChaosReport:
    store = store_from_url(url)
    await store.open()
    try:
        async with node_on(store, "last") as runtime:
            node_of(runtime).take_work()
            ids = await _all_waiting(runtime)
            return await _compared(runtime, ids, fight, charges)
    finally:
        await store.close()


async def _all_waiting(runtime: ManagedRuntime) -> list[str]:
    """The last node takes over what the dead ones left, until every instance waits for its next event. None may fault."""
    store, until, seen = runtime.store, monotonic() + _PATIENCE, 0
    query = InstanceQuery(tenant=TENANT, sort=InstanceSort.ID, descending=False, limit=100_000)
    while True:
        items = (await store.search(query)).items
        busy = [item for item in items if item.status != Status.SUSPENDED or await _naps(runtime, item.id)]
        if not busy:
            return [item.id for item in items]
        at_rest = [item.id for item in busy if item.status in (Status.FAULTED, Status.FINISHED, Status.CANCELED)]
        if at_rest or monotonic() > until:
            told = [await _explained(runtime, name) for name in at_rest or [item.id for item in busy]]
            raise AssertionError(f"instances that do not come to wait again: {told}")
        seen = await store.wait_for_change(seen, timedelta(seconds=1))


async def _explained(runtime: ManagedRuntime, identity: str) -> str:
    store = runtime.store
    result = await runtime.read(identity)
    export = await store.export_instance(TENANT, identity)
    assert export is not None
    letters = [item.work.id for item in await store.list_dead_letters(TENANT) if item.work.instance_id == identity]
    parts = {
        "status": result.status,
        "incidents": [item.message for item in result.incidents],
        "effects": [(row.execution, row.attempt, row.owner) for row in export.effects],
        "state": [(item.execution_id, item.attempt) for item in result._live.effects.values()],
        "bookmarks": [(mark.seq, mark.type) for mark in export.bookmarks],
        "work": [(row.id, row.kind, row.due, row.attempts) for row in export.work],
        "dead letters": letters,
        "in hand": runtime.works_on(identity),
        "journal": [
            (entry.event, entry.execution_id) for entry in (await runtime.journal(identity, limit=1_000_000))[-6:]
        ],
    }
    return f"{identity}: " + ", ".join(f"{name} {value}" for name, value in parts.items())


async def _naps(runtime: ManagedRuntime, identity: str) -> bool:
    return any(mark.type != "Event" for mark in await runtime.store.bookmarks_of(TENANT, identity))


async def _compared(runtime: ManagedRuntime, ids: list[str], fight: Fight, charges: Path) -> ChaosReport:
    violations: list[str] = []
    tokens: list[tuple[str, str]] = []
    bursts = 0
    for identity in ids:
        found, version, wrong = await _one(runtime, identity)
        tokens += [(identity, token) for token in found]
        bursts += version
        violations += wrong
    stuck = [key.id for key in await runtime.store.find_stuck(10) if key.tenant == TENANT]
    letters = await runtime.store.list_dead_letters(TENANT)
    violations += [f"{name} stuck" for name in stuck] + [f"dead letter {letter.work.id}" for letter in letters]
    told = fight.acknowledged()
    resumed = {pair for pair in told if not pair[0].startswith("key:")}
    started = [pair for pair in told if pair[0].startswith("key:")]
    lost = [*(resumed - set(tokens)), *((key, name) for key, name in started if name not in set(ids))]
    again = [key for key, times in Counter(key for key, _ in started).items() if times > 1]
    twice = [f"{name} {token}" for (name, token), times in Counter(tokens).items() if times > 1]
    attempts = [each for each, times in Counter(charges.read_text().splitlines()).items() if times > 1]
    return ChaosReport(
        kills=fight.kills,
        db_crashes=fight.crashes,
        bursts=bursts,
        acknowledged=len(told),
        lost=len(lost),
        duplicated=len(twice) + len(again) + len(attempts),
        violations=tuple(violations),
        evidence=(*(f"lost {pair}" for pair in lost), *(f"twice {each}" for each in (*twice, *again, *attempts))),
    )


async def _one(runtime: ManagedRuntime, identity: str) -> tuple[list[str], int, list[str]]:
    """Tokens and version of an instance, and what does not fit."""
    store = runtime.store
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
    parser.add_argument("--resumes", type=int, default=10_000)
    asked = parser.parse_args()
    report = asyncio.run(runtime_chaos(asked.url, kills=asked.kills, resumes=asked.resumes))
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")
    sys.exit(0 if report.sound else 1)


if __name__ == "__main__":
    main()
