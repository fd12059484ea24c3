"""Activities as classes: outcomes, bookmarks with callbacks, children, state, services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast import (
    Activity,
    Context,
    Holdfast,
    Retry,
    Runner,
    RunResult,
    Status,
    Workflow,
    expr,
    field,
    output,
    port,
    variable,
)
from holdfast.activities import Event, Flowchart, Sequence, WriteLine
from holdfast.api import ChildResult
from holdfast.authoring.fields import children as several
from holdfast.model.instance import JournalEvent

Carry = Callable[[Runner, RunResult, Any], RunResult]
Make = Callable[..., Holdfast]


class Approve(Activity, pure=True, outcomes=("Approved", "Rejected")):
    """Asks someone."""

    amount: int
    by: str = output()

    def execute(self, context: Context) -> None:
        context.state["asked"] = self.amount
        context.bookmark({"amount": self.amount}, name="approval", resume=self.decided, metadata={"who": "boss"})

    def decided(self, context: Context, payload: Any) -> None:
        context.set_output("by", f"{payload['by']} about {context.state['asked']}")
        context.journal("decided", payload)
        context.complete("Approved" if payload["yes"] else "Rejected")


class ApproveOutside(Activity, outcomes=("Approved", "Rejected")):
    """The same as an effect."""

    amount: int
    by: str = output()

    async def execute(self, context: Context) -> None:
        context.state["asked"] = self.amount
        context.bookmark({"amount": self.amount}, name="approval", resume=self.decided, metadata={"who": "boss"})

    async def decided(self, context: Context, payload: Any) -> None:
        context.set_output("by", f"{payload['by']} about {context.state['asked']}")
        context.journal("decided", payload)
        context.complete("Approved" if payload["yes"] else "Rejected")


@pytest.mark.parametrize("kind", [Approve, ApproveOutside])
@pytest.mark.parametrize("yes", [True, False])
async def test_an_activity_asks_waits_and_chooses_its_way(
    runner: Runner, through_json: Carry, kind: type[Activity], yes: bool
) -> None:
    ask, good, bad = kind(amount=7, by="who"), WriteLine("good"), WriteLine("bad")
    workflow = Workflow(
        Flowchart(ask, connections=[ask.on("Approved") >> good, ask.on("Rejected") >> bad]), variables={"who": None}
    )
    waiting = await runner.run(workflow)
    (bookmark,) = waiting.bookmarks
    result = await runner.resume(through_json(runner, waiting, workflow), payload={"yes": yes, "by": "Ann"})

    assert (bookmark.name, bookmark.payload, bookmark.metadata) == ("approval", {"amount": 7}, {"who": "boss"})
    assert result.lines == ["good" if yes else "bad"]
    assert result.variables == {"who": "Ann about 7"}
    logged = [entry.data["message"] for entry in result.journal if entry.event is JournalEvent.LOGGED]
    assert logged == ["decided"]


class Counts(Activity, pure=True):
    """Hears the same bookmark again and again."""

    until: int

    def execute(self, context: Context) -> None:
        context.bookmark("tick", resume=self.ticked, auto_burn=False)

    def ticked(self, context: Context, payload: Any) -> None:
        context.state["n"] = context.state.get("n", 0) + 1
        context.write_line(str(context.state["n"]))
        if context.state["n"] == self.until:
            context.complete()


async def test_a_bookmark_that_does_not_burn_is_heard_again(runner: Runner, through_json: Carry) -> None:
    workflow = Workflow(Counts(3))
    result = await runner.run(workflow)
    (first,) = result.bookmarks
    for _ in range(3):
        result = await runner.resume(result, first)

    assert result.lines == ["1", "2", "3"]
    assert result.status is Status.FINISHED


class Passive(Activity, pure=True):
    """Creates bookmarks without callbacks."""

    auto_complete: bool = True

    def execute(self, context: Context) -> None:
        context.bookmark("a", auto_complete=self.auto_complete)
        context.bookmark("b")


async def test_without_a_callback_resuming_completes_and_forgets_the_others(runner: Runner) -> None:
    result = await runner.resume(await runner.run(Passive()), "b1")

    assert result.status is Status.FINISHED


async def test_unless_it_says_not_to(runner: Runner) -> None:
    once = await runner.resume(await runner.run(Passive(auto_complete=False)), "b1")
    twice = await runner.resume(once, "b2")

    assert once.status is Status.SUSPENDED
    assert twice.status is Status.FINISHED


class Local(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.bookmark("x", local=True)
        context.bookmark("x")


async def test_a_local_bookmark_has_a_key_of_its_own(runner: Runner) -> None:
    one, two = await runner.run(Local()), await runner.run(Sequence(WriteLine("-"), Local()))

    assert one.bookmarks[0].hash != two.bookmarks[0].hash
    assert one.bookmarks[1].hash == two.bookmarks[1].hash


# -- children ----------------------------------------------------------------------------------------------------------


class Each(Activity, pure=True, container=True):
    """Runs its body for each word, all at once; completes with the tags in the order in which they came."""

    words: list[str]
    body: Activity | None = port(variables=("word",))
    order: list[str] = output()

    def execute(self, context: Context) -> None:
        for word in self.words:
            context.schedule(self.body, self.one_done, variables={"word": word}, tag=word)

    def one_done(self, context: Context, result: ChildResult) -> None:
        done = context.state.setdefault("done", [])
        done.append(result.tag)
        if len(done) == len(self.words):
            context.set_output("order", done)
            context.complete(*result.outcomes)


class EachOutside(Activity, container=True):
    words: list[str]
    body: Activity | None = port(variables=("word",))
    order: list[str] = output()

    async def execute(self, context: Context) -> None:
        for word in self.words:
            context.schedule(self.body, self.one_done, variables={"word": word}, tag=word)

    async def one_done(self, context: Context, result: ChildResult) -> None:
        done = context.state.setdefault("done", [])
        done.append(result.tag)
        if len(done) == len(self.words):
            context.set_output("order", done)
            context.complete()


@pytest.mark.parametrize("kind", [Each, EachOutside])
async def test_children_have_variables_and_tags_of_their_own(
    runner: Runner, through_json: Carry, kind: type[Activity]
) -> None:
    body = Sequence(Event("go"), WriteLine(variable("word")))
    workflow = Workflow(kind(words=["a", "b", "c"], body=body, order="order"), variables={"order": None})
    result = await runner.run(workflow)
    lines = []
    for position in (2, 0, 0):
        before = through_json(runner, result, workflow)
        result = await runner.resume(before, before.bookmarks[position])
        lines += result.lines

    assert lines == ["c", "a", "b"]
    assert result.variables == {"order": ["c", "a", "b"]}
    assert result.status is Status.FINISHED


class FirstWins(Activity, pure=True, container=True):
    """Runs its children at once and cancels by tag."""

    children: list[Activity] = several()

    def execute(self, context: Context) -> None:
        for number, child in enumerate(self.children):
            context.schedule(child, self.done, tag=number)

    def done(self, context: Context, result: ChildResult) -> None:
        context.write_line(f"{result.tag} done")
        if result.tag == 0:
            context.cancel_children(1)
        else:
            context.cancel_children()
            context.complete()


async def test_children_are_canceled_by_tag_or_all(runner: Runner) -> None:
    waiting = await runner.run(
        Sequence(
            FirstWins(children=[Event("a", id="a"), Event("b", id="b"), Event("c", id="c"), Event("d", id="d")]),
            WriteLine("end"),
        )
    )
    once = await runner.resume(waiting, waiting.bookmark("a"))
    result = await runner.resume(once, once.bookmark("c"))

    assert [item.activity_id for item in once.bookmarks] == ["c", "d"]
    assert result.lines == ["0 done", "2 done", "end"]
    assert result.bookmarks == []


class Twice(Activity, pure=True, container=True):
    """Schedules one child twice and cancels one of the two."""

    body: Activity | None = port(variables=("n",))

    def execute(self, context: Context) -> None:
        context.schedule(self.body, self.done, variables={"n": 1}, tag="one")
        context.schedule(self.body, self.done, variables={"n": 2}, tag="two")
        context.bookmark("stop one", resume=self.stop)

    def stop(self, context: Context, payload: Any) -> None:
        context.cancel_children("one")

    def done(self, context: Context, result: ChildResult) -> None:
        context.write_line(str(result.tag))


async def test_canceling_one_of_two_runs_of_a_child_leaves_the_other(runner: Runner) -> None:
    waiting = await runner.run(Twice(body=Sequence(Event("go", id="go"), WriteLine(expr("n"))), id="twice"))
    once = await runner.resume(waiting, waiting.bookmark("twice"))
    result = await runner.resume(once, once.bookmark("go"))

    assert len(once.bookmarks) == 1
    assert result.lines == ["2", "two"]
    assert result.status is Status.FINISHED


class NoCallback(Activity, pure=True, container=True):
    children: list[Activity] = several()

    def execute(self, context: Context) -> None:
        for child in self.children:
            context.schedule(child)


async def test_it_completes_when_its_children_have(runner: Runner) -> None:
    result = await runner.run(
        Sequence(NoCallback(children=[WriteLine("a"), WriteLine("b")]), NoCallback(), WriteLine("end"))
    )

    assert result.lines == ["a", "b", "end"]


class Impatient(Activity, pure=True, container=True):
    children: list[Activity] = several()

    def execute(self, context: Context) -> None:
        for child in self.children:
            context.schedule(child)
        context.complete("Early")


async def test_who_completes_with_children_in_the_queue_leaves_nothing_behind(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Impatient(children=[Event("orphan")]), Event("after", id="after")))

    assert [item.activity_id for item in waiting.bookmarks] == ["after"]
    assert (await runner.resume(waiting)).status is Status.FINISHED


class BadVariables(Activity, pure=True, container=True):
    body: Activity | None = port(variables=("known",))

    def execute(self, context: Context) -> None:
        context.schedule(self.body, variables={"unknown": 1})


class BadCallback(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.bookmark("x", resume=lambda context, payload: None)


class BadChild(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.schedule(WriteLine("x"))


class BadOutput(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.set_output("nowhere", 1)


class BadState(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.state["x"] = object()
        context.bookmark("y")


@pytest.mark.parametrize(
    ("root", "words"),
    [
        (BadVariables(body=WriteLine("x")), "unknown"),
        (BadCallback(), "bound method"),
        (BadChild(), "a port of this activity"),
        (BadOutput(), "nowhere"),
        (BadState(), "object"),
        (NoCallback(children=[BadCallback()]), "bound method"),
    ],
)
async def test_what_an_author_does_wrong_is_told_with_the_remedy(runner: Runner, root: Activity, words: str) -> None:
    result = await runner.run(root)

    assert result.status is Status.FAULTED
    assert words in result.incidents[0].message


# -- faults in callbacks -----------------------------------------------------------------------------------------------


class Fragile(Activity, pure=True, container=True):
    body: Activity | None = port()

    def execute(self, context: Context) -> None:
        context.schedule(self.body, self.done)

    def done(self, context: Context, result: ChildResult) -> None:
        context.write_line("not applied")
        raise ValueError("in the callback")


async def test_a_callback_that_fails_is_the_fault_of_its_activity_and_nothing_of_it_is_applied(runner: Runner) -> None:
    result = await runner.run(Fragile(body=WriteLine("child"), id="fragile"))
    again = await runner.retry(result)

    assert result.lines == ["child"]
    assert [(item.activity_id, item.message) for item in result.incidents] == [("fragile", "in the callback")]
    assert again.lines == ["child", "child"]


class FragileOutside(Activity, retry=Retry(attempts=2)):
    async def execute(self, context: Context) -> None:
        context.bookmark("go", resume=self.went)

    async def went(self, context: Context, payload: Any) -> None:
        if context.attempt == 1:
            raise ConnectionError("once")
        context.write_line(f"attempt {context.attempt} with {payload}")


async def test_a_callback_outside_is_retried_with_the_same_payload(runner: Runner, through_json: Carry) -> None:
    workflow = Workflow(FragileOutside())
    waiting = await runner.run(workflow)
    failed = await runner.resume(waiting, payload={"n": 1})
    result = await runner.resume(through_json(runner, failed, workflow))

    assert failed.status is Status.SUSPENDED
    assert result.lines == ["attempt 2 with {'n': 1}"]


class Mutates(Activity, pure=True):
    items: list[int]

    def execute(self, context: Context) -> None:
        self.items.append(0)
        context.bookmark("x", resume=self.later)

    def later(self, context: Context, payload: Any) -> None:
        context.write_line(str(self.items))


async def test_what_a_method_does_to_its_inputs_stays_with_that_call(runner: Runner) -> None:
    result = await runner.resume(await runner.run(Workflow(Mutates(variable("a")), variables={"a": [1]})))

    assert result.lines == ["[1]"]
    assert result.variables == {"a": [1]}


# -- what the context gives --------------------------------------------------------------------------------------------


class Bank:
    def __init__(self) -> None:
        self.calls: list[str] = []


class Pays(Activity):
    token: str = field(secret=True)
    amount: int = 1

    async def execute(self, context: Context) -> None:
        context.service(Bank).calls.append(context.idempotency_key)
        context.correlate("c-1")
        context.name_instance("paid")
        context.set_variable("x", 5)
        context.publish("paid", {"n": 1})
        if self.amount > 10:
            raise ValueError("too much")


async def test_services_come_by_type(make_engine: Make) -> None:
    bank = Bank()
    runner = make_engine(services={Bank: bank}).runner
    result = await runner.run(Workflow(Pays("secret", id="pay"), variables={"x": 0}), instance_id="i1")

    assert len(bank.calls) == 1
    assert bank.calls[0].startswith("i1:")
    assert (result.correlation_id, result.name, result.variables) == ("c-1", "paid", {"x": 5})
    assert [item["name"] for item in result.published] == ["paid"]


async def test_a_missing_service_is_told_with_the_remedy(runner: Runner) -> None:
    result = await runner.run(Workflow(Pays("secret"), variables={"x": 0}))

    assert "Holdfast(services={Bank: …})" in result.incidents[0].message


async def test_secrets_are_masked_in_incidents_and_state(make_engine: Make) -> None:
    runner = make_engine(services={Bank: Bank()}).runner
    result = await runner.run(Workflow(Pays("hunter2", 11), variables={"x": 0}))

    assert result.incidents[0].inputs["amount"] == 11
    assert "hunter2" not in str(result.incidents[0])
    assert all("hunter2" not in str(entry) for entry in result.journal)


async def test_nothing_of_a_failed_effect_is_applied(make_engine: Make) -> None:
    runner = make_engine(services={Bank: Bank()}).runner
    result = await runner.run(Workflow(Pays("t", 11), variables={"x": 0}))

    assert (result.correlation_id, result.variables, result.published) == (None, {"x": 0}, [])


class Reads(Activity):
    async def execute(self, context: Context) -> None:
        context.get_variable("x")


async def test_an_effect_is_told_to_take_variables_as_inputs(runner: Runner) -> None:
    result = await runner.run(Workflow(Reads(), variables={"x": 0}))

    assert "input" in result.incidents[0].message


class Lazy(Activity, pure=True):
    condition: Any = field(default=None, evaluated=False)

    def execute(self, context: Context) -> None:
        context.write_line(str(self.condition()))


async def test_an_input_may_be_evaluated_by_the_activity_itself(runner: Runner) -> None:
    result = await runner.run(Workflow(Lazy(expr("n * 2")), variables={"n": 4}))

    assert result.lines == ["8"]


class Started(Activity, pure=True, trigger=True):
    def execute(self, context: Context) -> None:
        if context.started_instance:
            context.write_line(f"started by {context.trigger_payload}")
        else:
            context.bookmark("go")


async def test_a_trigger_of_ones_own(runner: Runner) -> None:
    result = await runner.run(Sequence(Started(id="t"), Started(id="u")), trigger="t", trigger_payload={"n": 1})

    assert result.lines == ["started by {'n': 1}"]
    assert [item.activity_id for item in result.bookmarks] == ["u"]


class Gone(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.cancel()


async def test_an_activity_may_cancel_itself(runner: Runner) -> None:
    gone, after = Gone(id="gone"), WriteLine("after")
    result = await runner.run(Sequence(Flowchart(gone, connections=[gone >> after]), WriteLine("end")))

    assert result.lines == ["end"]
    assert result.status is Status.FINISHED
