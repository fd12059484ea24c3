"""Instances with several effects at once that end, fail, are canceled and resumed in random order."""

from __future__ import annotations

import asyncio

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from holdfast import Holdfast, Retry, RunResult, Status, Workflow, activity, expr
from holdfast.activities import Event, Parallel, ParallelForEach, Sequence, WriteLine
from holdfast.runtime.inline.runner import Running
from holdfast.testing.clock import VirtualClock

OPEN: dict[tuple[str, int], asyncio.Future[str]] = {}
"""Effects that run now, by what they were given and by attempt."""


@activity(retry=Retry(attempts=2), name="controlled")
async def controlled(name: str) -> str:
    attempt = 1 + sum(1 for key in STARTED if key[0] == name)
    key = (name, attempt)
    STARTED.append(key)
    OPEN[key] = asyncio.get_running_loop().create_future()
    try:
        return await OPEN[key]
    finally:
        del OPEN[key]


STARTED: list[tuple[str, int]] = []

LIMIT = 2
ITEMS = ["i0", "i1", "i2", "i3"]


def workflow() -> Workflow:
    def branch(name: str) -> Sequence:
        return Sequence(controlled.bind(name, result=name), WriteLine(expr(name)))

    each = ParallelForEach(
        ITEMS, Sequence(controlled.bind(expr("CurrentValue")), WriteLine(expr("CurrentValue"))), limit=LIMIT
    )
    return Workflow(
        Sequence(Parallel(branch("a"), branch("b"), each), WriteLine("end")),
        id="many",
        variables={"a": None, "b": None},
    )


class Effects(RuleBasedStateMachine):
    """The test decides when each effect ends and how."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.engine = Holdfast(clock=VirtualClock(), entry_points=False)
        self.ended: set[str] = set()
        self.failed: dict[str, int] = {}
        self.canceled = False
        self.lines: list[str] = []
        self.running: Running

    def turn(self) -> None:
        """Let everything that can go on go on."""

        async def settle() -> None:
            for _ in range(60):
                await asyncio.sleep(0)

        self.loop.run(settle())

    @initialize()
    def start(self) -> None:
        STARTED.clear()
        OPEN.clear()

        async def begin() -> Running:
            return self.engine.runner.start(workflow(), wait=True, on_line=self.lines.append)

        self.running = self.loop.run(begin())
        self.turn()

    @precondition(lambda self: bool(OPEN))
    @rule(choice=st.integers(0, 10))
    def end_one(self, choice: int) -> None:
        key = sorted(OPEN)[choice % len(OPEN)]
        OPEN[key].set_result(f"{key[0]} done")
        self.ended.add(key[0])
        self.turn()

    @precondition(lambda self: bool(OPEN))
    @rule(choice=st.integers(0, 10))
    def fail_one(self, choice: int) -> None:
        key = sorted(OPEN)[choice % len(OPEN)]
        OPEN[key].set_exception(ConnectionError("no"))
        self.failed[key[0]] = self.failed.get(key[0], 0) + 1
        self.turn()

    @rule()
    def cancel(self) -> None:
        self.canceled = True
        self.running.cancel()
        self.turn()

    @invariant()
    def never_more_than_the_limit(self) -> None:
        assert sum(1 for name, _ in OPEN if name in ITEMS) <= LIMIT

    @invariant()
    def nothing_runs_after_it_was_canceled(self) -> None:
        assert not (self.canceled and OPEN)

    @invariant()
    def nothing_runs_twice(self) -> None:
        assert len(set(STARTED)) == len(STARTED)
        assert all(attempt <= 2 for _, attempt in STARTED)
        done = [name for name, _ in STARTED if name in self.ended]
        assert all(done.count(name) == 1 + self.failed.get(name, 0) for name in self.ended)

    def teardown(self) -> None:
        if hasattr(self, "running"):
            while OPEN:
                self.end_one(0)
            result: RunResult = self.loop.run(self.running.result())
            self.check(result)
        self.loop.close()
        self.engine.close()

    def check(self, result: RunResult) -> None:
        given_up = {name for name, times in self.failed.items() if times > 1}
        if self.canceled and result.status is Status.CANCELED:
            return
        assert result.lines == self.lines
        if given_up:
            assert result.status is Status.FAULTED
            assert {item.message for item in result.incidents} == {"no"}
            assert all(item.attempt == 2 for item in result.incidents)
        else:
            assert result.status is Status.FINISHED
            assert result.variables == {"a": "a done", "b": "b done"}
            assert sorted(result.lines) == sorted(["a done", "b done", *ITEMS, "end"])
            assert result.lines[-1] == "end"


TestEffects = Effects.TestCase
TestEffects.settings = settings(max_examples=30, stateful_step_count=15)


class Events(RuleBasedStateMachine):
    """Bookmarks are resumed in random order, from results old and new, each time through an exported state."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.engine = Holdfast(clock=VirtualClock(), entry_points=False)
        self.workflow = Workflow(
            Sequence(
                Parallel(*(Sequence(*(self.step(name, n) for n in range(2))) for name in "abc")), WriteLine("end")
            ),
            id="events",
        )
        self.results: list[RunResult] = []
        self.histories: list[list[str]] = []

    @staticmethod
    def step(name: str, number: int) -> Sequence:
        return Sequence(Event(f"{name}{number}", id=f"{name}{number}"), WriteLine(f"{name}{number}"))

    @initialize()
    def start(self) -> None:
        self.results = [self.loop.run(self.engine.runner.run(self.workflow))]
        self.histories = [[]]

    @rule(old=st.integers(0, 20), which=st.integers(0, 5), reload=st.booleans())
    def resume(self, old: int, which: int, reload: bool) -> None:
        position = old % len(self.results)
        result, history = self.results[position], self.histories[position]
        if not result.bookmarks:
            assert result.status is Status.FINISHED
            return
        mark = result.bookmarks[which % len(result.bookmarks)]
        base = self.engine.runner.load(result.state, self.workflow) if reload else result
        moved = self.loop.run(self.engine.runner.resume(base, mark))
        written = [*history, mark.activity_id]
        self.results.append(moved)
        self.histories.append(written)
        assert moved.lines[len(base.lines) :][0] == mark.activity_id

    @invariant()
    def each_result_is_what_its_history_says(self) -> None:
        for result, history in zip(self.results, self.histories, strict=True):
            done = set(history)
            expected = {
                next(f"{name}{n}" for n in range(2) if f"{name}{n}" not in done)
                for name in "abc"
                if f"{name}1" not in done
            }
            assert {item.activity_id for item in result.bookmarks} == expected
            assert (result.status is Status.FINISHED) == (not expected)

    def teardown(self) -> None:
        self.loop.close()
        self.engine.close()


TestEvents = Events.TestCase
TestEvents.settings = settings(max_examples=20, stateful_step_count=12)
