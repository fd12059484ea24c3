"""Child processes on a store, for tests that need more than one process: `python -m holdfast.testing.store_process`.

A child process opens the store at an address, performs one role, and prints the answer as one line of JSON. A fault in its
environment (`HOLDFAST_TEST_FAULT`) kills the child at a named point.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from holdfast.model.commit import Committed, Conflict
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import BookmarkRef, InstanceKey
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing import faults
from holdfast.testing.store_rows import bookmark, commit_of, instance, message, work

Answer = dict[str, Any]
Role = Callable[..., Awaitable[Answer]]
"""A coroutine function that takes the open store and the arguments of the role."""


async def migrate(store: Store, **_: Any) -> Answer:
    return {"applied": len((await store.migrate()).applied)}


async def send_stimuli(store: Store, tenant: str, instance_id: str, seqs: list[int], refs: list[list[int]]) -> Answer:
    """Burn one bookmark of the same instance per stimulus. Losers of the version check reload and retry."""

    async def send(seq: int, ref: BookmarkRef) -> int:
        lost = 0
        while True:
            row = (await store.load([InstanceKey(tenant, instance_id)])).instances[InstanceKey(tenant, instance_id)]
            update = instance(
                instance_id, row.version + 1, tenant=tenant, state=row.state + bytes([seq]), burst_id=f"b{seq}.{lost}"
            )
            outcome = (await store.commit([commit_of(update, bookmarks_burned=(ref,))]))[0]
            if isinstance(outcome, Committed):
                return lost
            lost += 1

    losses = await asyncio.gather(*(send(seq, BookmarkRef(*ref)) for seq, ref in zip(seqs, refs, strict=True)))
    return {"lost": sum(losses)}


async def drain(store: Store, tenant: str, prefix: str) -> Answer:
    """Start one instance per work row until none is left."""
    done: list[str] = []
    contested = 0
    while (await store.stats(tenant)).work_ready:
        async with store.claim(["default"], 8) as claim:
            batch = [
                commit_of(
                    instance(f"{prefix}-{row.id}", tenant=tenant, burst_id=f"{prefix}-{row.id}"),
                    work_consumed=(row.id,),
                )
                for row in claim.rows
            ]
            for commit, outcome in zip(batch, await claim.commit(batch), strict=True):
                done += commit.work_consumed if isinstance(outcome, Committed) else ()
                contested += isinstance(outcome, Conflict)
    return {"done": done, "contested": contested}


async def write(store: Store, tenant: str, prefix: str, rounds: int, batch: int) -> Answer:
    """Commit groups back to back. Returns the duration of the slowest commit."""
    await store.register_node(prefix, time_to_live=timedelta(minutes=5))
    longest = 0.0
    for number in range(rounds):
        rows = [
            instance(f"{prefix}-{number}-{part}", tenant=tenant, burst_id=f"{prefix}-{number}") for part in range(batch)
        ]
        started = time.monotonic()
        outcomes = await store.commit([commit_of(row) for row in rows])
        longest = max(longest, time.monotonic() - started)
        assert all(isinstance(outcome, Committed) for outcome in outcomes), outcomes
    return {"longest": longest}


async def burst(store: Store, tenant: str, names: list[str]) -> Answer:
    """One commit per name with rows in many tables, which a fault must store completely or not at all."""
    outcomes = await store.commit(
        [
            commit_of(
                instance(name, tenant=tenant, burst_id=f"burst-{name}"),
                guards_taken=(idempotency_key(operation="start", target="burst", key=name),),
                bookmarks_added=(bookmark(tenant, name),),
                work_added=(work(tenant, id=f"work-{name}"),),
                outbox_added=(message(tenant, id=f"message-{name}"),),
            )
            for name in names
        ]
    )
    return {"committed": sum(isinstance(outcome, Committed) for outcome in outcomes)}


ROLES: Mapping[str, Role] = {
    "migrate": migrate,
    "send_stimuli": send_stimuli,
    "drain": drain,
    "write": write,
    "burst": burst,
}


def start(role: str, url: str, *, fault: str = "", **arguments: Any) -> subprocess.Popen[str]:
    """Start a child process in the given role. Read its answer with `answer_of`."""
    return launch(__name__, role, url, arguments, fault=fault)


def launch(
    module: str,
    role: str,
    url: str,
    arguments: Answer,
    *,
    fault: str = "",
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a module that calls `main` with its own roles as a child process."""
    return subprocess.Popen(  # noqa: S603 - a module of this package, run by the current interpreter
        [sys.executable, "-m", module, role, url, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**(os.environ if environment is None else environment), faults.VARIABLE: fault},
    )


def answer_of(process: subprocess.Popen[str], timeout: timedelta = timedelta(seconds=60)) -> Answer | None:
    """The printed answer; None if the child process died."""
    try:
        printed, _ = process.communicate(timeout=timeout.total_seconds())
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    answer: Answer | None = json.loads(printed) if process.returncode == 0 else None
    return answer


async def _perform(role: Role, url: str, arguments: Answer) -> Answer:
    store = store_from_url(url)
    if role is not migrate:
        await store.open()
    try:
        return await role(store, **arguments)
    finally:
        await store.close()


def main(roles: Mapping[str, Role]) -> None:
    role, url, arguments = sys.argv[1:]
    with faults.from_environment():
        answer = asyncio.run(_perform(roles[role], url, json.loads(arguments)))
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(ROLES)
