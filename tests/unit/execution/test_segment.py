"""Segments: where they are cut, what commits a strategy adds, what the journal says."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from holdfast import Holdfast, Runner, Status, Workflow, activity, expr
from holdfast.activities import Event, Parallel, Sequence, SetVariable, While, WriteLine
from holdfast.execution import delivery, segment, snapshot
from holdfast.execution.activation import Activation
from holdfast.execution.segment import Ended, Limits, run_segment
from holdfast.model.instance import JournalEvent
from holdfast.testing.clock import VirtualClock


def counting(to: int) -> Workflow:
    return Workflow(
        Sequence(While(expr(f"n < {to}"), SetVariable("n", expr("n + 1"))), WriteLine(expr("n"))), variables={"n": 0}
    )


def begun(engine: Holdfast, workflow: Workflow) -> Any:
    return delivery.start(engine.plan(workflow), id="i", now=engine.clock.now_ns, services=engine.services, inputs={})


@pytest.mark.parametrize("commit", [None, "periodic:PT1H"])
def test_a_segment_is_cut_after_a_number_of_activities(make_engine: Any, commit: str | None) -> None:
    engine = make_engine()
    workflow = Workflow(
        While(expr("n < 1000"), SetVariable("n", expr("n + 1"))),
        variables={"n": 0},
        commit=commit,
    )
    live = begun(engine, workflow)
    ended: list[Ended] = []
    segments = 0
    while not ended or ended[-1] is not Ended.IDLE:
        before = live.sequence
        ended.append(run_segment(live, Limits(activities=200, nanoseconds=10**15)))
        assert live.sequence - before <= 200 + segment.STRIDE
        segments += 1

    assert segments >= 4
    assert live.status is Status.FINISHED


def test_a_segment_is_cut_after_a_time(make_engine: Any) -> None:
    class Ticking(VirtualClock):
        """Each look at it takes a millisecond."""

        def now_ns(self) -> int:
            self._now_ns += 1_000_000
            return self._now_ns

    engine = make_engine(clock=Ticking())
    live = begun(engine, counting(1_000))

    assert run_segment(live, Limits(nanoseconds=5_000_000)) is Ended.CUT
    assert live.status is Status.RUNNING
    assert live.queue


def test_a_cut_instance_goes_on_from_json(make_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "STRIDE", 1)
    engine = make_engine()
    workflow = counting(25)
    live, lines = begun(engine, workflow), []
    while True:
        ended = run_segment(live, Limits(activities=1, nanoseconds=10**15))
        lines += live.lines
        if ended is Ended.IDLE:
            break
        document = json.loads(json.dumps(snapshot.dump(live)))
        live = snapshot.load(document, engine.plan(workflow), engine.clock.now_ns, engine.services)

    assert lines == ["25"]
    assert live.status is Status.FINISHED


def test_a_segment_that_is_thrown_away_and_run_again_gives_the_same(make_engine: Any) -> None:
    engine = make_engine()
    workflow = Workflow(Sequence(WriteLine("a"), Event("go"), WriteLine("b")))
    plan, state = engine.plan(workflow), snapshot.dump(begun(engine, workflow))
    ends = []
    for _ in range(2):
        live = snapshot.load(state, plan, engine.clock.now_ns, engine.services)
        run_segment(live, Limits())
        ends.append(snapshot.dump(live))

    assert ends[0] == ends[1]


# -- commits -----------------------------------------------------------------------------------------------------------


def activations() -> int:
    return sum(type(item) is Activation for item in gc.get_objects())


def test_an_instance_that_is_let_go_leaves_nothing_to_the_collector(make_engine: Any) -> None:
    engine = make_engine()
    gc.collect()
    gc.disable()
    try:
        others = activations()
        live = begun(engine, Workflow(Sequence(Parallel(Event("a"), Sequence(Event("b"))))))
        run_segment(live, Limits())
        assert live.status is Status.SUSPENDED
        assert activations() > others
        del live
        assert activations() == others
    finally:
        gc.enable()


def lines(**options: Any) -> list[WriteLine]:
    return [WriteLine(str(number), **options) for number in range(3)]


async def commits(runner: Runner, **options: Any) -> int:
    return (await runner.run(Workflow(Sequence(*lines()), **options))).commits


async def test_commit_strategies_add_commits(runner: Runner) -> None:
    base = await commits(runner)

    assert base == 1
    assert await commits(runner, commit="workflow_executing") == 2
    assert await commits(runner, commit="workflow_executed") == base
    assert await commits(runner, commit="activity_executed") == 3
    assert await commits(runner, commit="activity_executing") == 5


async def test_an_activity_may_ask_for_itself_or_refuse(runner: Runner) -> None:
    one = Sequence(WriteLine("0"), WriteLine("1", commit="executed"), WriteLine("2"))
    always = Sequence(WriteLine("0"), WriteLine("1", commit="always"), WriteLine("2"))
    never = Workflow(Sequence(*lines(commit="never"), commit="never"), commit="activity_executed")

    assert (await runner.run(one)).commits == 2
    assert (await runner.run(always)).commits == 3
    assert (await runner.run(never)).commits == 1


def test_a_period_adds_commits_and_never_lengthens_a_segment(make_engine: Any) -> None:
    class Ticking(VirtualClock):
        """Each look at it takes a millisecond."""

        def now_ns(self) -> int:
            self._now_ns += 1_000_000
            return self._now_ns

    engine = make_engine(clock=Ticking())
    loop = While(expr("n < 1000"), SetVariable("n", expr("n + 1")))
    short, long = (Workflow(loop, variables={"n": 0}, commit=f"periodic:PT{seconds}S") for seconds in (0.005, 3600))

    assert run_segment(begun(engine, short), Limits(nanoseconds=10**15)) is Ended.COMMIT
    assert run_segment(begun(engine, long), Limits(nanoseconds=5_000_000)) is Ended.CUT


@pytest.mark.parametrize("commit", ["activity_executed", "periodic:PT0.000001S"])
def test_no_commit_is_added_when_the_queue_is_empty(make_engine: Any, commit: str) -> None:
    engine = make_engine()
    live = begun(engine, Workflow(WriteLine("x"), commit=commit))

    assert run_segment(live, Limits(nanoseconds=1)) is Ended.IDLE
    assert live.status is Status.FINISHED
    assert not live.commit_wanted


async def test_no_strategy_removes_the_commit_before_an_effect(runner: Runner) -> None:
    @activity
    async def effect() -> None: ...

    result = await runner.run(Workflow(Sequence(effect.bind(commit="never"), WriteLine("x", commit="never"))))

    assert result.commits == 2


async def test_a_workflow_does_the_same_with_every_strategy(runner: Runner) -> None:
    workflows = {
        name: Workflow(
            Sequence(
                While(expr("n < 3"), Sequence(SetVariable("n", expr("n + 1")), WriteLine(expr("n")))),
                Event("go"),
                WriteLine("end"),
            ),
            variables={"n": 0},
            commit=name,
        )
        for name in (
            None,
            "workflow_executing",
            "workflow_executed",
            "activity_executing",
            "activity_executed",
            "periodic",
            "periodic:PT0.001S",
        )
    }
    for name, workflow in workflows.items():
        result = await runner.resume(await runner.run(workflow))
        assert (name, result.lines, result.status) == (name, ["1", "2", "3", "end"], Status.FINISHED)


# -- the journal -------------------------------------------------------------------------------------------------------


async def test_entries_are_numbered_dated_and_name_their_activity(runner: Runner, clock: VirtualClock) -> None:
    result = await runner.run(Sequence(WriteLine("x", id="line", name="Say x"), id="all"))

    assert [entry.sequence for entry in result.journal] == list(range(len(result.journal)))
    assert all(entry.at == clock.now() for entry in result.journal)
    assert [(entry.event, entry.activity_id) for entry in result.journal] == [
        (JournalEvent.INSTANCE_STARTED, None),
        (JournalEvent.STARTED, "all"),
        (JournalEvent.COMPLETED, "line"),
        (JournalEvent.COMPLETED, "all"),
        *([(JournalEvent.COMPLETED, "workflow")] if len(result.journal) == 6 else []),
        (JournalEvent.INSTANCE_FINISHED, None),
    ]


async def test_history_is_not_rewritten_by_later_changes(runner: Runner) -> None:
    root = Sequence(SetVariable("x", [1]), SetVariable("x", expr("x + [2]")), SetVariable("x", "y" * 5_000))
    result = await runner.run(Workflow(root, variables={"x": None}))
    kept = [entry.data for entry in result.journal if entry.activity_type == "SetVariable"]

    assert [str(data).replace(" ", "") for data in kept[:2]] == ["[1]", "[1,2]"]
    assert len(str(kept[2])) < 2_000


async def test_a_decision_keeps_little_of_what_it_saw(runner: Runner) -> None:
    root = While(expr("len(text) < 3"), WriteLine("never"))
    result = await runner.run(Workflow(root, variables={"text": "z" * 10_000}))
    (decided,) = [entry.data for entry in result.journal if entry.event is JournalEvent.DECIDED]

    assert decided["answer"] is False
    assert len(str(decided["saw"]["text"])) < 400


def test_a_state_that_is_slow_to_read_has_longer_segments() -> None:
    """Else one of thousands of branches would be read and written again for every few of them."""
    limits = Limits(activities=5_000, nanoseconds=5_000_000)

    assert limits.after(100_000) is limits
    longer = limits.after(50_000_000)
    assert (longer.nanoseconds, longer.activities) == (100_000_000, 100_000)
    assert limits.after(60_000_000_000).nanoseconds == segment.MAX_SEGMENT_NS
    assert longer.runaway == limits.runaway
