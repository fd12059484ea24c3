"""DBOS, durable workflows as a Python library, with ten steps, on the same server and in the same run as Holdfast.

Two comparisons. `ratio`: Holdfast runs ten pure activities and commits once, because nothing is visible outside before the
commit; DBOS commits each step. `step_ratio`: Holdfast runs ten effects with eleven commits, which is its default for user
functions and the guarantee that DBOS gives. DBOS runs in its own environment and process, with twenty connections. For each
number in flight, the better of its two modes counts (functions in threads, coroutines), at twenty and at that number.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks import store_turns as turns
from benchmarks.environments import environment
from benchmarks.figures import Effort, Figure, Group, Unmeasurable
from benchmarks.store_databases import POSTGRES, SQLITE, Database, World, database, world
from benchmarks.store_starts import ten_activities
from benchmarks.store_turns import Measure, Sample, Samples, Turn, best_rate, in_flight, least_cpu
from holdfast import Status, Workflow, activity, expr
from holdfast.activities import Sequence

PACKAGES = ("dbos==3.3.0", "pysqlite3-binary==0.5.4")
WORKER = Path(__file__).resolve().parent / "dbos_worker.py"
SECONDS = 2.0
IN_FLIGHT = {POSTGRES: (1, 64), SQLITE: (64,)}
WAYS = {1: (("threads", 1), ("tasks", 1)), 64: (("threads", 20), ("threads", 64), ("tasks", 20), ("tasks", 64))}
GOALS = {1: 40, 64: 500}
STEP_GOALS = {1: 6, 64: 60}
STEPS = 10


def figures_of(kind: str) -> tuple[Figure, ...]:
    many_of = IN_FLIGHT[kind]
    return (
        *(
            Figure(
                f"dbos.{kind}.ratio.{many}",
                f"Holdfast, one commit, over DBOS with ten steps, {many} in flight",
                GOALS[many],
                at_least=True,
            )
            for many in many_of
        ),
        *(
            Figure(
                f"dbos.{kind}.step_ratio.{many}",
                f"Holdfast with ten effects, eleven commits, over DBOS with ten steps, {many} in flight",
                STEP_GOALS[many] if kind == POSTGRES else None,
                at_least=True,
            )
            for many in many_of
        ),
        *(Figure(f"dbos.{kind}.workflows_per_s.{many}", f"rate of DBOS, {many} in flight") for many in many_of),
        *(
            Figure(f"dbos.{kind}.effects_per_s.{many}", f"Holdfast workflows of ten effects, {many} in flight")
            for many in many_of
        ),
        Figure(f"dbos.{kind}.cpu_ms_python", "CPU of DBOS for one workflow, without its database, ms"),
    )


@activity
async def add_one(number: int) -> int:
    return number + 1


def ten_effects() -> Workflow:
    return Workflow(
        Sequence(*(add_one.bind(expr("x"), result="x") for _ in range(STEPS))),
        id="bench-ten-effects",
        name="Ten effects",
        variables={"x": 0},
    )


class DbosWorker:
    """The other process: one line of JSON requests a turn, and one line answers."""

    def __init__(self, python: Path, url: str) -> None:
        self._process = subprocess.Popen(
            [str(python), str(WORKER), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if not self._read():
            raise Unmeasurable("DBOS did not start; its error is above.")

    def turn(self, how: str, many: int) -> Turn:
        async def turn() -> Sample:
            process = self._process
            assert process.stdin is not None
            process.stdin.write(json.dumps({"how": how, "many": many, "seconds": SECONDS}) + "\n")
            process.stdin.flush()
            found = await asyncio.to_thread(self._read)
            if not found:
                raise Unmeasurable("DBOS ended in the middle of a turn; its error is above.")
            return Sample(int(found["count"]), found["wall"], found["cpu"])

        return turn

    def _read(self) -> Mapping[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found: Mapping[str, float] = json.loads(line) if line else {}
        return found

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def dbos(place: Database) -> Iterator[DbosWorker]:
    python = environment("dbos", *PACKAGES)
    worker = DbosWorker(python, place.url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        yield worker
    finally:
        worker.close()


def _measuring(kind: str) -> Measure:
    return lambda effort: measure(effort, kind)


def measure(effort: Effort, kind: str) -> Mapping[str, float]:
    with database(kind) as mine, database(kind) as theirs, dbos(theirs) as worker:

        async def all_turns() -> Samples:
            async with world(mine) as here:
                return await turns.take_turns(contenders(here, worker, kind), turns.rounds_of(effort.rounds))

        samples = asyncio.run(all_turns())
    return _figures(kind, samples)


def contenders(here: World, worker: DbosWorker, kind: str) -> dict[str, Turn]:
    runtime, one_commit, eleven = here.runtime, ten_activities(), ten_effects()

    async def start(which: int) -> None:
        answer = await runtime.start(one_commit)
        assert answer.result is not None
        assert answer.result.status is Status.FINISHED

    async def with_effects(which: int) -> None:
        answer = await runtime.start(eleven)
        assert answer.result is not None
        ended = await runtime.settle(answer.result.instance_id)
        assert ended.status is Status.FINISHED

    found: dict[str, Turn] = {}
    for many in IN_FLIGHT[kind]:
        found[f"ours {many}"] = in_flight(start, many, here.processor)
        found[f"effects {many}"] = in_flight(with_effects, many, here.processor, SECONDS)
        found |= {f"dbos {many} {how} {at_once}": worker.turn(how, at_once) for how, at_once in WAYS[many]}
    return found


def _figures(kind: str, samples: Samples) -> dict[str, float]:
    figures: dict[str, float] = {}
    for many in IN_FLIGHT[kind]:
        theirs = max(best_rate(found) for name, found in samples.items() if name.startswith(f"dbos {many} "))
        effects = best_rate(samples[f"effects {many}"])
        figures[f"dbos.{kind}.ratio.{many}"] = best_rate(samples[f"ours {many}"]) / theirs
        figures[f"dbos.{kind}.step_ratio.{many}"] = effects / theirs
        figures[f"dbos.{kind}.workflows_per_s.{many}"] = theirs
        figures[f"dbos.{kind}.effects_per_s.{many}"] = effects
    every = [least_cpu(found) for name, found in samples.items() if name.startswith("dbos ")]
    cheapest = least_cpu(every)
    figures[f"dbos.{kind}.cpu_ms_python"] = cheapest.cpu / cheapest.done * 1000
    return figures


GROUPS = tuple(Group(f"dbos, {kind}", figures_of(kind), _measuring(kind)) for kind in IN_FLIGHT)
