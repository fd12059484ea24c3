"""Effects: recorded before they start, in contexts of their own, in threads and processes, canceled and timed out."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Activity, Context, Holdfast, Retry, Runner, Status, Workflow, activity, expr, variable
from holdfast.activities import Delay, Event, Fork, Parallel, Sequence, Try, WriteLine
from holdfast.model.instance import BookmarkKind, JournalEvent
from holdfast.testing.clock import VirtualClock

Make = Callable[..., Holdfast]
LOCAL: contextvars.ContextVar[str] = contextvars.ContextVar("LOCAL", default="untouched")


def events_of(result: Any, activity_id: str) -> list[JournalEvent]:
    return [entry.event for entry in result.journal if entry.activity_id == activity_id]


async def test_an_effect_is_recorded_committed_and_only_then_started(make_engine: Make) -> None:
    from holdfast import telemetry

    order: list[str] = []

    @activity
    async def act() -> None:
        order.append("runs")

    def listen(event: str, fields: Any) -> None:
        order.append(event)

    with telemetry.on(listen):
        result = await make_engine().runner.run(Sequence(WriteLine("before"), act.bind(id="act")))

    assert order.index("segment.committed") < order.index("effect.started") < order.index("runs")
    assert events_of(result, "act") == [
        JournalEvent.STARTED,
        JournalEvent.EFFECT_RECORDED,
        JournalEvent.EFFECT_RESULT,
        JournalEvent.COMPLETED,
    ]


async def test_n_effects_in_a_row_are_n_and_one_commits(runner: Runner) -> None:
    @activity
    async def act() -> None: ...

    assert (await runner.run(Sequence(*(act.bind() for _ in range(4))))).commits == 5


async def test_what_is_canceled_between_a_segment_and_its_commit_never_starts(runner: Runner) -> None:
    ended, ran = asyncio.Event(), list[str]()

    @activity
    async def first() -> None:
        ended.set()

    @activity
    async def second(which: str) -> None:
        ran.append(which)

    running = runner.start(Sequence(first.bind(), Parallel(second.bind("a"), second.bind("b"))))

    async def cancel() -> None:
        await ended.wait()
        running.cancel()

    canceling = asyncio.create_task(cancel())
    result = await running.result()
    await canceling

    assert (result.status, ran) == (Status.CANCELED, [])


async def test_lines_are_printed_after_the_commit_of_their_segment(runner: Runner) -> None:
    seen: list[list[str]] = []
    printed: list[str] = []

    @activity
    async def look() -> None:
        seen.append(list(printed))

    await runner.run(Sequence(WriteLine("a"), look.bind(), WriteLine("b")), on_line=printed.append)

    assert seen == [["a"]]
    assert printed == ["a", "b"]


@activity(name="mark")
async def mark(text: str) -> str:
    before = LOCAL.get()
    LOCAL.set(text)
    return before


@activity(name="mark_in_thread")
def mark_in_thread(text: str) -> str:
    before = LOCAL.get()
    LOCAL.set(text)
    return before


@activity(pure=True, name="mark_purely")
def mark_purely(text: str) -> str:
    before = LOCAL.get()
    LOCAL.set(text)
    return before


@pytest.mark.parametrize("act", [mark, mark_in_thread])
async def test_each_effect_has_a_fresh_context(runner: Runner, act: Any) -> None:
    LOCAL.set("the caller's")
    root = Sequence(act.bind("one", result="a"), act.bind("two", result="b"))
    result = await runner.run(Workflow(root, variables={"a": None, "b": None}))

    assert result.variables == {"a": "untouched", "b": "untouched"}
    assert LOCAL.get() == "the caller's"


async def test_pure_code_has_one_context_for_each_burst(runner: Runner) -> None:
    LOCAL.set("the caller's")
    root = Sequence(
        mark_purely.bind("one", result="a"),
        mark_purely.bind("two", result="b"),
        Event("go"),
        mark_purely.bind("x", result="c"),
    )
    workflow = Workflow(root, variables={"a": None, "b": None, "c": None})
    result = await runner.resume(await runner.run(workflow))

    assert result.variables == {"a": "untouched", "b": "one", "c": "untouched"}
    assert LOCAL.get() == "the caller's"


class Asks(Activity, pure=True):
    """Touches the context variable in a callback."""

    def execute(self, context: Context) -> None:
        context.bookmark("go", resume=self.answered)

    def answered(self, context: Context, payload: Any) -> None:
        LOCAL.set("a callback's")


async def test_callbacks_do_not_touch_the_callers_context(runner: Runner) -> None:
    LOCAL.set("the caller's")
    await runner.resume(await runner.run(Asks()))

    assert LOCAL.get() == "the caller's"


async def _spoil_async(items: list[int]) -> list[int]:
    items.append(99)
    return items


def _spoil(items: list[int]) -> list[int]:
    items.append(99)
    return items


@pytest.mark.parametrize(
    "act",
    [activity(_spoil_async), activity(_spoil), activity(pure=True)(_spoil), activity(pure=True)(_spoil_async)],
)
async def test_arguments_and_results_cross_the_border_by_value(runner: Runner, act: Any) -> None:
    workflow = Workflow(
        Sequence(act.bind(variable("a"), result="b"), act.bind(variable("b"), result="c")),
        variables={"a": [1], "b": None, "c": None},
    )
    result = await runner.run(workflow)
    result_again = await runner.run(workflow)

    assert result.variables == {"a": [1], "b": [1, 99], "c": [1, 99, 99]}
    assert result_again.variables == result.variables


async def test_every_attempt_gets_the_inputs_that_were_evaluated_once(runner: Runner) -> None:
    given: list[tuple[int, str, list[int]]] = []

    @activity(retry=Retry(attempts=3))
    async def fragile(context: Context, items: list[int]) -> None:
        given.append((context.attempt, context.idempotency_key, list(items)))
        items.append(0)
        if context.attempt < 3:
            raise ConnectionError

    root = Sequence(fragile.bind(items=variable("items")), WriteLine("end"))
    result = await runner.run(Workflow(root, variables={"items": [1]}), wait=True)

    assert result.lines == ["end"]
    assert [(attempt, items) for attempt, _, items in given] == [(1, [1]), (2, [1]), (3, [1])]
    assert len({key for _, key, _ in given}) == 1


async def test_an_async_effect_that_takes_too_long_is_canceled(runner: Runner) -> None:
    cleaned: list[str] = []

    @activity(timeout=timedelta(milliseconds=20))
    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")

    result = await runner.run(slow.bind(id="slow"))

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ActivityTimeout"
    assert cleaned == ["cleaned"]


async def test_a_timeout_error_of_the_activitys_own_is_its_own(runner: Runner) -> None:
    @activity(timeout=timedelta(hours=1))
    async def own() -> None:
        raise TimeoutError("the bank does not answer")

    result = await runner.run(own.bind())

    assert (result.incidents[0].type, result.incidents[0].message) == ("TimeoutError", "the bank does not answer")


async def test_a_timeout_over_a_wait(runner: Runner, clock: VirtualClock) -> None:
    root = Try(
        body=Sequence(Event("never"), WriteLine("no"), timeout=timedelta(hours=1)),
        catches=[{"errors": ["ActivityTimeout"], "activity": WriteLine("too late")}],
    )
    began = clock.now()
    result = await runner.run(root, wait=True)

    assert result.lines == ["too late"]
    assert clock.now() - began == timedelta(hours=1)


async def test_what_ends_in_time_leaves_no_timeout_behind(runner: Runner) -> None:
    @activity(timeout=timedelta(hours=1))
    async def quick() -> None: ...

    waiting = await runner.run(
        Sequence(quick.bind(), Sequence(WriteLine("x"), timeout=timedelta(hours=1)), Event("go"))
    )

    assert [item.kind for item in waiting._live.bookmarks.values()] == [BookmarkKind.ACTIVITY]


class Slow(Activity, timeout=timedelta(hours=1)):
    async def execute(self, context: Context) -> None: ...


class SlowAndPure(Activity, pure=True, timeout=timedelta(hours=1)):
    def execute(self, context: Context) -> None: ...


@pytest.mark.parametrize("root", [Slow(), SlowAndPure()])
async def test_a_class_activity_with_a_timeout_completes(runner: Runner, root: Activity) -> None:
    assert (await runner.run(root)).status is Status.FINISHED


async def test_a_definition_that_takes_too_long_faults_and_can_be_retried(runner: Runner) -> None:
    workflow = Workflow(Sequence(WriteLine("a"), Event("never")), timeout=timedelta(days=1))
    result = await runner.run(workflow, wait=True)
    again = await runner.retry(result)

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ActivityTimeout"
    assert again.status is Status.SUSPENDED
    assert again.lines == ["a", "a"]
    assert again.incidents == []


async def test_a_back_off_is_a_bookmark_with_a_due_time(runner: Runner, clock: VirtualClock) -> None:
    @activity(retry=Retry(attempts=4, delay=timedelta(seconds=10), factor=3, delay_max=timedelta(seconds=50), jitter=0))
    async def fragile() -> None:
        raise ConnectionError("down")

    result = await runner.run(fragile.bind(id="f"))
    waits = []
    while result.status is Status.SUSPENDED:
        (bookmark,) = result.bookmarks
        assert bookmark.kind is BookmarkKind.RETRY
        assert bookmark.due is not None
        waits.append(bookmark.due - clock.now())
        result = await runner.resume(result)

    assert waits == [timedelta(seconds=10), timedelta(seconds=30), timedelta(seconds=50)]
    assert result.status is Status.FAULTED
    assert result.incidents[0].attempt == 4


async def test_jitter_stays_in_its_bounds_and_is_the_same_when_a_segment_is_run_again(
    runner: Runner, clock: VirtualClock
) -> None:
    @activity(retry=Retry(attempts=2, delay=timedelta(seconds=100), jitter=0.5))
    async def fragile() -> None:
        raise ConnectionError("down")

    dues = set()
    for number in range(20):
        result = await runner.run(fragile.bind(), instance_id=f"i{number}")
        same = await runner.run(fragile.bind(), instance_id=f"i{number}")
        assert result.bookmarks[0].due == same.bookmarks[0].due
        dues.add(result.bookmarks[0].due)
    spread = [(due - clock.now()).total_seconds() for due in dues if due is not None]

    assert len(dues) > 10
    assert all(50 <= wait <= 150 for wait in spread)


@pytest.mark.parametrize(
    ("policy", "calls"),
    [
        (Retry(attempts=3, on=("ConnectionError",)), 3),
        (Retry(attempts=3, on=("OSError",)), 3),
        (Retry(attempts=3, on=("KeyError",)), 1),
        (Retry(attempts=3, never_on=("OSError",)), 1),
        (Retry(attempts=3, never_on=("KeyError",)), 3),
        (Retry(attempts=1), 1),
    ],
)
@pytest.mark.parametrize("pure", [True, False])
async def test_only_the_named_types_are_retried(runner: Runner, policy: Retry, calls: int, pure: bool) -> None:
    called = 0

    def fragile() -> None:
        nonlocal called
        called += 1
        raise ConnectionError("down")

    result = await runner.run(activity(pure=pure)(fragile).bind(retry=policy), wait=True)

    assert called == calls
    assert result.status is Status.FAULTED


async def test_an_input_that_cannot_be_evaluated_is_retried_from_its_beginning(runner: Runner) -> None:
    @activity(retry=Retry(attempts=3))
    async def act(x: int) -> int:
        return x

    workflow = Workflow(act.bind(expr("6 // n"), result="n"), variables={"n": 0})
    result = await runner.run(workflow, wait=True)

    assert result.status is Status.FAULTED
    assert result.incidents[0].attempt == 3
    assert "'x'" in result.incidents[0].message


async def test_a_pure_activity_that_sees_its_context_counts_its_attempts(runner: Runner) -> None:
    attempts = []

    @activity(pure=True, retry=Retry(attempts=3))
    def fragile(context: Context) -> None:
        attempts.append(context.attempt)
        raise ValueError

    result = await runner.run(fragile.bind(), wait=True)

    assert attempts == [1, 2, 3]
    assert result.status is Status.FAULTED


async def test_cancel_reaches_an_effect_that_runs(runner: Runner) -> None:
    started, why = asyncio.Event(), []

    @activity
    async def long() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            why.append("canceled")
            raise

    running = runner.start(Sequence(Try(body=long.bind(), finally_=WriteLine("finally")), WriteLine("never")))
    await started.wait()
    running.cancel()
    result = await running.result()
    running.cancel()

    assert why == ["canceled"]
    assert result.lines == ["finally"]
    assert result.status is Status.CANCELED


async def test_cancel_ends_a_wait_for_a_due_time(make_engine: Make) -> None:
    clock = VirtualClock(jump=False)
    running = make_engine(clock=clock).runner.start(Sequence(Delay(timedelta(days=1)), WriteLine("x")), wait=True)
    await clock.waited()
    running.cancel()
    result = await running.result()

    assert result.status is Status.CANCELED
    assert result.lines == []


async def test_an_effect_that_loses_a_race_is_canceled(runner: Runner) -> None:
    started, cleaned = asyncio.Event(), []

    @activity
    async def slow() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")

    @activity
    async def fast() -> None:
        await started.wait()

    result = await runner.run(Sequence(Fork(slow.bind(), fast.bind(), join="wait_any"), WriteLine("end")))

    assert result.lines == ["end"]
    assert cleaned == ["cleaned"]


async def test_an_effect_that_is_canceled_in_its_own_segment_never_starts(runner: Runner) -> None:
    started = []

    @activity
    async def act() -> None:
        started.append(1)

    result = await runner.run(Sequence(Fork(act.bind(), WriteLine("first"), join="wait_any"), WriteLine("end")))

    assert result.lines == ["first", "end"]
    assert started == []


async def test_a_cancellation_that_nobody_asked_for_is_a_fault(runner: Runner) -> None:
    @activity
    async def odd() -> None:
        raise asyncio.CancelledError

    result = await runner.run(odd.bind())

    assert result.status is Status.FAULTED
    assert "raised CancelledError, but Holdfast did not cancel it" in result.incidents[0].message


async def test_whatever_an_effect_raises_is_a_fault_and_not_a_hang(runner: Runner) -> None:
    class Strange(BaseException):
        pass

    @activity
    async def strange() -> None:
        raise Strange("beyond Exception")

    @activity
    def leaves() -> None:
        sys.exit(3)

    @activity
    def runs_out() -> None:
        next(iter(()))

    for act, name in ((strange, "Strange"), (leaves, "SystemExit"), (runs_out, "RuntimeError")):
        result = await runner.run(act.bind())
        assert result.status is Status.FAULTED
        assert result.incidents[0].type == name


async def test_who_hangs_up_cancels_his_effects(runner: Runner) -> None:
    started, cleaned = asyncio.Event(), asyncio.Event()

    @activity
    async def long() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    task = asyncio.create_task(runner.run(long.bind()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert cleaned.is_set()


async def test_an_endless_loop_lets_others_run_and_can_be_canceled(runner: Runner) -> None:
    from holdfast.activities import SetVariable, While

    running = runner.start(Workflow(While(expr("True"), SetVariable("n", expr("n + 1"))), variables={"n": 0}))
    for _ in range(20):
        await asyncio.sleep(0)
    running.cancel()
    result = await running.result()

    assert result.status is Status.CANCELED
    assert result.variables["n"] > 0


async def test_a_pure_activity_that_waits_is_told_the_remedy(runner: Runner) -> None:
    @activity(pure=True)
    async def waits() -> None:
        await asyncio.sleep(0)

    result = await runner.run(waits.bind())

    assert result.incidents[0].type == "PureActivityWaited"
    assert "pure=True" in result.incidents[0].message


async def test_a_pure_async_activity_that_does_not_wait_is_fine(runner: Runner) -> None:
    @activity(pure=True)
    async def quick(n: int) -> int:
        return n + 1

    result = await runner.run(Workflow(quick.bind(1, result="n"), variables={"n": 0}))

    assert result.variables == {"n": 2}
    assert result.commits == 1


async def test_results_are_applied_in_the_order_in_which_they_come(runner: Runner) -> None:
    gates = {name: asyncio.Event() for name in "abc"}
    gates["c"].set()
    following = {"c": "a", "a": "b"}

    @activity
    async def act(name: str) -> None:
        await gates[name].wait()

    @activity(pure=True)
    def next_one(name: str) -> None:
        if name in following:
            gates[following[name]].set()

    root = Parallel(*(Sequence(act.bind(name), WriteLine(name), next_one.bind(name)) for name in "abc"))
    result = await runner.run(root)

    assert result.lines == ["c", "a", "b"]


async def test_a_container_times_out_while_an_effect_of_it_runs(runner: Runner) -> None:
    cleaned: list[str] = []

    @activity
    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")

    root = Try(
        body=Sequence(forever.bind(), timeout=timedelta(hours=1)),
        catches=[{"errors": ["ActivityTimeout"], "activity": WriteLine("too late")}],
    )
    for wait in (True, False):
        result = await runner.run(root, wait=wait)
        assert result.lines == ["too late"]
    assert cleaned == ["cleaned", "cleaned"]


async def test_a_definition_times_out_while_an_effect_runs(runner: Runner) -> None:
    @activity
    async def forever() -> None:
        await asyncio.Event().wait()

    result = await runner.run(Workflow(forever.bind(), timeout=timedelta(hours=1)))

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ActivityTimeout"


async def test_an_effect_that_ends_in_time_is_not_timed_out_by_its_container(runner: Runner) -> None:
    @activity
    async def quick() -> None:
        await asyncio.sleep(0)

    root = Sequence(Sequence(quick.bind(), quick.bind(), timeout=timedelta(hours=1)), WriteLine("end"))

    assert (await runner.run(root)).lines == ["end"]


async def test_delays_and_back_offs_go_on_while_an_effect_runs(runner: Runner) -> None:
    gate = asyncio.Event()

    @activity
    async def long() -> None:
        await gate.wait()

    @activity(retry=Retry(attempts=2))
    async def fragile(context: Context) -> None:
        if context.attempt == 1:
            raise ConnectionError("down")

    @activity(pure=True)
    def open_gate() -> None:
        gate.set()

    root = Parallel(
        Sequence(long.bind(), WriteLine("long")),
        Sequence(Delay(timedelta(days=1)), fragile.bind(), WriteLine("short"), open_gate.bind()),
    )
    result = await runner.run(root, wait=True)

    assert result.lines == ["short", "long"]
    assert result.status is Status.FINISHED
