"""Runs persisted in a store: started in one process and continued in another, even after `kill -9`.

A command is a node of its own while it runs. It works only on the requested instance and its children, and leaves all
other work of the store alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.report import RunLocation
from holdfast.cli.resume import choose, waits_for_time, warn_if_early
from holdfast.cli.terminal_run import RESUMES_MAX, LinePrinter, RunOptions, finish
from holdfast.engine import Holdfast
from holdfast.management.instances import families
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.definition import Definition
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark
from holdfast.runtime.result import RunResult
from holdfast.settings import masked_address

NODE_TIMEOUT = timedelta(seconds=5)
POLL_INTERVAL = timedelta(milliseconds=500)


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a run, and the options that the next command needs again."""

    url: str
    modules: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def location(self, instance_id: str) -> RunLocation:
        modules = "".join(f" --activities {name}" for name in dict.fromkeys(self.modules))
        store = f"--store {masked_address(self.url)}"
        retry = f"{instance_id} {store}{modules}"
        worker = " ".join((*dict.fromkeys(self.modules), store))
        return RunLocation(retry + "".join(f" --with {name}" for name in self.others), retry, worker)


@dataclass(frozen=True, slots=True)
class Start:
    definition: Definition
    inputs: Mapping[str, Any]
    correlation_id: str | None
    flowchart_mode: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The instance to continue, and options."""

    instance_id: str
    bookmark: str | None
    payload: Any
    is_given: bool


def run(engine: Holdfast, place: Place, start: Start, printer: LinePrinter, options: RunOptions) -> int:
    async def work(runtime: ManagedRuntime) -> tuple[RunResult, bool]:
        check_inputs(start.definition, start.inputs, engine.plan(start.definition).types)
        identity = runtime.new_id()
        # Printed before anything runs, so that a killed run can be resumed by its id.
        click.echo(f"instance {identity} is stored in {masked_address(place.url)}", err=True)
        answer = await runtime.start(
            start.definition,
            start.inputs,
            instance_id=identity,
            correlation_id=start.correlation_id,
            flowchart_mode=start.flowchart_mode,
            on_line=printer,
        )
        if answer.result is None:
            raise BadInput(
                f"Instance {answer.existing} is running, and '{start.definition.id}' allows one instance at a time. "
                "Resume or cancel it first."
            )
        if start.definition.options.transient and answer.result.status.at_rest:
            return answer.result, True  # A transient workflow that ended immediately leaves nothing in the store.
        return await _follow(runtime, identity, printer, options)

    return _driven(engine, place, work, printer, options)


def resume(engine: Holdfast, place: Place, wanted: Wanted, printer: LinePrinter, options: RunOptions) -> int:
    async def work(runtime: ManagedRuntime) -> tuple[RunResult, bool]:
        identity = wanted.instance_id
        runtime.listen(identity, printer)
        before = await families.read_family(runtime, identity)
        recovered = False if before.status.at_rest else await _recover(runtime, before, printer)
        waiting = await families.settle_family(runtime, identity)
        ended = waiting.status.at_rest and not before.status.at_rest  # Due work completed the instance.
        timed = options.wait and waits_for_time(waiting)
        if (recovered or ended or timed) and wanted.bookmark is None and not wanted.is_given:
            return await _follow(runtime, identity, printer, options)
        any_will_do = options.auto_resume and not wanted.is_given
        retry = f"holdfast instances retry {place.location(identity).retry}"
        chosen = choose(waiting, wanted.bookmark, f"Instance {identity}", any_will_do=any_will_do, retry=retry)
        if not options.auto_resume:
            warn_if_early(chosen, await runtime.store.now())
        await _resume(runtime, identity, chosen, wanted.payload, printer)
        return await _follow(runtime, identity, printer, options)

    return _driven(engine, place, work, printer, options)


def _driven(
    engine: Holdfast,
    place: Place,
    work: Callable[[ManagedRuntime], Awaitable[tuple[RunResult, bool]]],
    printer: LinePrinter,
    options: RunOptions,
) -> int:
    async def drive() -> tuple[RunResult, bool]:
        async with opened(engine, place.url) as runtime:
            return await work(runtime)

    return finish(engine, drive, printer, options, lambda result: place.location(result.instance_id))


@asynccontextmanager
async def opened(engine: Holdfast, url: str | None) -> AsyncIterator[ManagedRuntime]:
    store = engine.store(url)
    await store.open()
    try:
        name = f"cli-{socket.gethostname()[:40]}-{os.getpid()}"
        runtime = engine.runtime_on(store, node=name, takes_work=False, does_own=True)
        runtime.liveness.time_to_live = NODE_TIMEOUT
        async with runtime:
            yield runtime
    finally:
        await store.close()


# -- continue ----------------------------------------------------------------------------------------------------------


async def _follow(
    runtime: ManagedRuntime, identity: str, printer: LinePrinter, options: RunOptions
) -> tuple[RunResult, bool]:
    """Runs until nothing more happens here; returns the last state, and whether `--auto-resume` reached an end."""
    resumes = 0
    while True:
        result = await families.settle_family(runtime, identity)
        waiting = result.bookmarks
        if options.auto_resume and waiting:
            if resumes == RESUMES_MAX:
                return result, False
            resumes += 1
            await _resume(runtime, identity, waiting[0], {}, printer)
            continue
        due = families.next_due(result) if options.wait else None
        if due is None:
            return result, True
        now = await runtime.store.now()
        if due > now:
            await asyncio.sleep((due - now).total_seconds())
        families.fire_due(runtime, result, await runtime.store.now())


async def _resume(
    runtime: ManagedRuntime, identity: str, bookmark: Bookmark, payload: Any, printer: LinePrinter
) -> None:
    """Bookmarks of children are named `<child>/b1`."""
    *path, mark = bookmark.id.split("/")
    target = path[-1] if path else identity
    await runtime.resume(target, mark, payload, on_line=printer)


async def _recover(runtime: ManagedRuntime, result: RunResult, printer: LinePrinter) -> bool:
    """Takes over the work that a dead process left of this run."""
    names = families.members(result)
    for name in names:
        runtime.listen(name, printer)
    await _wait_for_owners(runtime, names)
    taken = await families.take_up(runtime, names)
    for name in names:
        taken += await runtime.recover(name)
    return taken > 0


async def _wait_for_owners(runtime: ManagedRuntime, names: list[str]) -> None:
    """A killed process counts as alive until its heartbeat expires. A process that renews its heartbeat is alive."""
    store = runtime.store
    first = await families.owners(runtime, names)
    for node in first:
        left = (node.heartbeat + node.time_to_live - await store.now()).total_seconds()
        click.echo(
            f"Process '{node.id}' was working on this instance. If it sends no heartbeat within {max(left, 0):.0f} s, "
            "its work is taken over.",
            err=True,
        )
    beats = {node.owner: node.heartbeat for node in first}
    while found := await families.owners(runtime, names):
        alive = next((node for node in found if node.heartbeat != beats.get(node.owner, node.heartbeat)), None)
        if alive is not None:
            raise BadInput(f"Process '{alive.id}' is alive and works on this instance. Wait for it to end, or stop it.")
        await asyncio.sleep(POLL_INTERVAL.total_seconds())
