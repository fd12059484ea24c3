"""What authors declare: descriptors made from it, and errors with a remedy for what cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from holdfast import (
    Activity,
    Context,
    Holdfast,
    Retry,
    Runner,
    Workflow,
    activity,
    expr,
    field,
    output,
    port,
    workflow,
)
from holdfast.activities import Flowchart, Sequence, WriteLine
from holdfast.errors import ActivityDeclarationError, DefinitionError, InvalidDefinition
from holdfast.model.descriptor import Kind, PortKind


@dataclass
class Order:
    id: str
    total: Decimal


@activity(
    name="Charge",
    category="Money",
    icon="coin",
    retry=Retry(attempts=2),
    timeout=timedelta(seconds=3),
    secrets=["token"],
)
async def charge(order: Order, token: str, times: int = 1, notes: list[str] | None = None) -> Decimal:
    """Charges the card.

    More for those who want to know.
    """
    return order.total * times


class SendMail(Activity, outcomes=("Sent", "Bounced"), category="Mail", version=3):
    """Sends a mail."""

    to: str
    body_text: str = field(default="", display_name="Text", description="What it says", editor="multi-line")
    password: str = field(default="", secret=True)
    on_sent: Activity | None = port(variables=("receipt",))
    message_id: str = output(description="Its id")


def test_a_function_describes_itself() -> None:
    descriptor = charge.activity_type.descriptor

    assert (descriptor.type, descriptor.kind, descriptor.category, descriptor.icon) == (
        "Charge",
        Kind.EFFECT,
        "Money",
        "coin",
    )
    assert descriptor.description == "Charges the card."
    inputs = {item.name: item for item in descriptor.inputs}
    assert list(inputs) == ["order", "token", "times", "notes"]
    assert (inputs["order"].required, inputs["times"].required, inputs["times"].default) == (True, False, 1)
    assert inputs["times"].schema == {"type": "integer"}
    assert {"id", "total"} <= set(re.findall(r"'(\w+)'", str(inputs["order"].schema)))
    assert inputs["token"].secret
    assert inputs["notes"].display_name == "Notes"
    assert descriptor.outputs[0].name == "result"


def test_a_class_describes_itself() -> None:
    descriptor = SendMail.activity_type.descriptor

    assert (descriptor.type, descriptor.version, descriptor.display_name) == ("SendMail", 3, "Send mail")
    assert descriptor.outcomes == ("Sent", "Bounced")
    inputs = {item.name: item for item in descriptor.inputs}
    assert list(inputs) == ["to", "body_text", "password"]
    text = inputs["body_text"]
    assert (text.display_name, text.description, text.editor) == ("Text", "What it says", "multi-line")
    assert inputs["password"].secret
    assert [(item.name, item.kind, item.variables) for item in descriptor.ports] == [
        ("on_sent", PortKind.ONE, ("receipt",))
    ]
    assert [(item.name, item.description) for item in descriptor.outputs] == [("message_id", "Its id")]


def test_called_directly_a_function_stays_a_function() -> None:
    @activity
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert add(1) == 3
    assert vars(add)["__name__"] == "add"


BUILT_IN_EFFECTS = {"DownloadHttpFile", "FlowSendHttpRequest", "SendHttpRequest"}
"""None yet: the parts that talk to the world come with the runtime."""


@pytest.mark.parametrize("annotation", ["Context | None", "None | Context", Context | None, Context])
async def test_a_context_that_may_be_left_out_is_filled_in(annotation: Any, runner: Runner) -> None:
    async def attempted(n: int, context: Any = None) -> str:
        return f"{n}: {context and context.attempt}"

    attempted.__annotations__["context"] = annotation
    made = activity(attempted)

    assert [item.name for item in made.activity_type.descriptor.inputs] == ["n"]
    assert await made(1) == "1: None"
    result = await runner.run(Workflow(made.bind(2, result="said"), variables={"said": ""}))
    assert result.variables["said"] == "2: 1"


def test_every_built_in_activity_has_its_kind() -> None:
    kinds = {name: item.kind for name, item in Holdfast(entry_points=False).descriptors.items()}

    assert {name for name, kind in kinds.items() if kind is Kind.EFFECT} == BUILT_IN_EFFECTS
    assert {
        "Sequence",
        "Flowchart",
        "If",
        "Switch",
        "For",
        "ForEach",
        "While",
        "DoWhile",
        "ParallelForEach",
        "Parallel",
    } <= kinds.keys()
    assert {
        "Fork",
        "StateMachine",
        "Break",
        "Continue",
        "Complete",
        "Finish",
        "Fault",
        "Start",
        "End",
        "Try",
    } <= kinds.keys()
    assert {
        "Compensate",
        "Compensable",
        "SetVariable",
        "SetOutput",
        "SetName",
        "Correlate",
        "WriteLine",
    } <= kinds.keys()
    assert {
        "ReadLine",
        "Inline",
        "Event",
        "PublishEvent",
        "Delay",
        "RunScript",
        "Log",
        "ExecuteWorkflow",
    } <= kinds.keys()
    assert {"FlowDecision", "FlowSwitch", "FlowFork", "FlowJoin", "RunTask", "Timer", "StartAt"} <= kinds.keys()


# -- what cannot be ----------------------------------------------------------------------------------------------------


def refused(make: Callable[[], Any], *words: str) -> None:
    with pytest.raises(ActivityDeclarationError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_parameters_without_a_name_are_refused() -> None:
    def star(*args: int) -> None: ...
    def stars(**kwargs: int) -> None: ...
    def slash(a: int, /) -> None: ...

    for function in (star, stars, slash):
        refused(lambda: activity(function).activity_type.descriptor, "names")  # noqa: B023 - called at once


def test_cpu_work_is_a_plain_function() -> None:
    async def waits() -> None: ...
    def sees(context: Context) -> None: ...

    refused(lambda: activity(cpu=True)(waits), "cpu=True", "plain function")
    refused(lambda: activity(cpu=True)(sees), "Context")
    refused(lambda: activity(cpu=True, pure=True)(test_cpu_work_is_a_plain_function), "pure", "cpu")


def test_annotations_that_nobody_can_resolve_are_named() -> None:
    def odd(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - the point of the test

    refused(lambda: activity(odd).activity_type.descriptor, "Nowhere", "TYPE_CHECKING")


def test_fields_that_an_activity_does_not_have_are_named() -> None:
    refused(lambda: WriteLine(tekst="x"), "tekst", "text")
    refused(lambda: WriteLine("a", "b", "c", "d"), "WriteLine")
    refused(lambda: charge.bind(ordr=1), "ordr", "order")
    refused(lambda: charge.bind(1, 2, 3, 4, 5), "order")


def test_an_object_stands_in_one_place() -> None:
    line = WriteLine("x")

    refused(lambda: Workflow(Sequence(line, line)), "used twice")


async def test_a_class_without_execute_is_told(runner: Runner) -> None:
    class Empty(Activity, pure=True):
        pass

    result = await runner.run(Empty())

    assert "execute" in result.incidents[0].message


async def test_two_activities_of_one_id_are_refused(runner: Runner) -> None:
    with pytest.raises((InvalidDefinition, ActivityDeclarationError), match="same"):
        await runner.run(Sequence(WriteLine("a", id="same"), WriteLine("b", id="same")))


async def test_all_problems_of_a_definition_are_told_at_once(runner: Runner) -> None:
    bad = Sequence(
        WriteLine(expr("nobody")), WriteLine(expr("1 +")), WriteLine(expr("x", "klingon")), WriteLine("fine")
    )
    with pytest.raises(InvalidDefinition) as caught:
        await runner.run(bad)

    assert len(caught.value.problems) == 3
    assert all(item.path.startswith("/root") for item in caught.value.problems)


async def test_a_nest_that_is_too_deep_is_told(runner: Runner) -> None:
    def nest(depth: int) -> Activity:
        root: Activity = WriteLine("x")
        for _ in range(depth):
            root = Sequence(root)
        return root

    assert (await runner.run(nest(60))).lines == ["x"]
    with pytest.raises(InvalidDefinition, match="too deeply"):
        await runner.run(nest(200))
    with pytest.raises(ActivityDeclarationError, match="too deeply"):
        await runner.run(nest(400))


async def test_what_is_no_workflow_is_refused(runner: Runner) -> None:
    with pytest.raises(DefinitionError, match="int"):
        await runner.run(3)


# -- objects to definitions --------------------------------------------------------------------------------------------


def test_ids_that_nobody_gave_are_counted_by_type() -> None:
    workflow = Workflow(
        Sequence(WriteLine("a"), Sequence(WriteLine("b"), WriteLine("c", id="WriteLine2")), WriteLine("d"))
    )
    ids = [node.id for node in workflow.definition.root.walk()]

    assert ids[0] == "Sequence1"
    assert len(set(ids)) == len(ids) == 6


def test_a_link_may_be_a_chain_with_outcomes_and_delays() -> None:
    a, b, c = (WriteLine(name, id=name) for name in "abc")
    chart = Flowchart(connections=[a >> b >> c, (c.on("Again") >> a).after(timedelta(seconds=5))])
    connections = Workflow(chart).definition.root.connections

    assert [(item.source, item.outcome, item.target, item.delay) for item in connections] == [
        ("a", None, "b", None),
        ("b", None, "c", None),
        ("c", "Again", "a", timedelta(seconds=5)),
    ]


async def test_objects_and_json_are_the_same_definition(runner: Runner) -> None:
    from holdfast.model.reader import parse_definition
    from holdfast.model.writer import write_definition

    workflow = Workflow(
        Sequence(
            charge.bind(expr("order"), "t", result="paid", id="pay", retry=Retry(attempts=4)), WriteLine(expr("paid"))
        ),
        id="w",
        variables={"order": None, "paid": 0},
    )
    document = write_definition(workflow.definition)

    assert write_definition(parse_definition(document)) == document


async def test_typed_inputs_reach_the_activity_as_their_type(runner: Runner) -> None:
    workflow = Workflow(
        charge.bind(expr("order"), "t", 2, result="paid"), inputs={"order": Order}, variables={"paid": None}
    )
    result = await runner.run(workflow, {"order": Order("o1", Decimal("2.50"))})
    plain = await runner.run(workflow, {"order": {"id": "o1", "total": "2.50"}})

    assert result.variables["paid"] == Decimal("5.00")
    assert plain.variables["paid"] == Decimal("5.00")


class Weighs(Activity, pure=True):
    """Weighs things."""

    what: str
    """What is weighed.

    More of it is not for a table."""
    unit: str = "kg"
    exact: bool = field(default=False, description="Said in place.")
    weight: float = output()
    """In units."""


class WeighsTwice(Weighs, pure=True):
    unit: str = "g"
    """Of the second time."""


def test_docstrings_of_fields_are_read_for_people_only() -> None:
    engine = Holdfast(activities=[Weighs, WeighsTwice, charge], entry_points=False)
    first, second = (engine.documented[name] for name in ("Weighs", "WeighsTwice"))

    told = {item.name: item.description for item in first.inputs}
    assert told == {"what": "What is weighed.", "unit": None, "exact": "Said in place."}
    assert first.outputs[0].description == "In units."
    assert {item.name: item.description for item in second.inputs}["what"] == "What is weighed."
    assert {item.name: item.description for item in second.inputs}["unit"] == "Of the second time."
    assert engine.descriptors["Weighs"].inputs[0].description is None
    function = charge.activity_type.descriptor
    assert engine.documented[function.type] is function


def test_an_input_says_when_it_is_asked_for() -> None:
    class Reminder(Activity):
        by: str = "mail"
        number: str | None = field(default=None, shown_when={"by": ["sms", "call"]})

        def execute(self, context: Context) -> None: ...

    by, number = Reminder.activity_type.descriptor.inputs

    assert by.shown_when is None
    assert number.shown_when == {"by": ["sms", "call"]}


def test_a_condition_speaks_of_another_input() -> None:
    class Odd(Activity):
        by: str = "mail"
        number: str = field(default="", shown_when={"via": "sms"})

        def execute(self, context: Context) -> None: ...

    with pytest.raises(ActivityDeclarationError, match="shown_when refers to 'via', which is not another input"):
        _ = Odd.activity_type.descriptor


def test_what_is_required_is_always_shown() -> None:
    class Lost(Activity):
        by: str
        number: str = field(shown_when={"by": "sms"})

        def execute(self, context: Context) -> None: ...

    with pytest.raises(ActivityDeclarationError, match="is required and has shown_when"):
        _ = Lost.activity_type.descriptor


def test_retries_name_exceptions_by_text() -> None:
    with pytest.raises(ActivityDeclarationError, match=r"Write on=\('ConnectionError',\)"):
        Retry(on=(ConnectionError,))  # type: ignore[arg-type]  # what people try


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"timeout": 30}, r"Write timeout=timedelta\(seconds=30\)"),
        ({"retry": 3}, r"Write retry=Retry\(attempts=3\)"),
        ({"on_lost": "maybe"}, "OnLost.RETRY, OnLost.FAIL, OnLost.HOLD"),
    ],
)
def test_options_of_another_type_are_told_where_they_stand(options: dict[str, Any], told: str) -> None:
    for write in (lambda: activity(**options)(charge.function), lambda: charge.bind(**options)):
        with pytest.raises(ActivityDeclarationError, match=told):
            write()
    with pytest.raises(ActivityDeclarationError, match=r"Write delay=timedelta\(seconds=2\)"):
        Retry(delay=2)  # type: ignore[arg-type]  # as people write it
    with pytest.raises(ActivityDeclarationError, match=r"Write timeout=timedelta\(seconds=30\)"):
        workflow(timeout=30)(charge.function)  # type: ignore[call-overload]
    assert activity(on_lost="hold")(charge.function).activity_type.options.on_lost == "hold"  # type: ignore[call-overload]


def test_an_activity_runs_at_least_once() -> None:
    with pytest.raises(ActivityDeclarationError, match="Write attempts=1"):

        @activity(retry=Retry(attempts=0))
        async def charge() -> None: ...

    with pytest.raises(ActivityDeclarationError, match="Write attempts=1"):

        class Charge(Activity, retry=Retry(attempts=-1)):
            def execute(self, context: Context) -> None: ...
