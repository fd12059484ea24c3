"""Values that are written to variables, inputs and outputs of declared types: converted, or a fault that names all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Activity, Context, Retry, Runner, Status, Workflow, activity, expr, literal, output, workflow
from holdfast.activities import Event, For, ForEach, RunScript, Sequence, SetOutput, SetVariable, WriteLine
from holdfast.api import OutputDeclaration
from holdfast.errors import InvalidInput, WrongResult, WrongType
from holdfast.model.definition import Variable
from holdfast.testing.clock import VirtualClock


@dataclass
class Order:
    number: int


TABLE: list[tuple[str, Any, Any]] = [
    ("integer", "5", 5),
    ("integer", 5.0, 5),
    ("number", "2.5", 2.5),
    ("decimal", "2.50", "2.50"),
    ("string", 5, "5"),
    ("boolean", "true", True),
    ("datetime", "2031-05-01T12:00:00Z", "2031-05-01 12:00:00+00:00"),
    ("date", "2031-05-01", "2031-05-01"),
    ("duration", "PT30S", "0:00:30"),
    ("list[integer]", ["1", 2], [1, 2]),
    ("object", '{"a": 1}', {"a": 1}),
    ("integer?", None, None),
    ("any", "abc", "abc"),
]
WRONG: list[tuple[str, Any]] = [
    ("integer", "abc"),
    ("integer", 5.5),
    ("integer?", "abc"),
    ("number", "many"),
    ("decimal", "many"),
    ("boolean", "maybe"),
    ("datetime", "soon"),
    ("date", "2031-13-01"),
    ("duration", "a while"),
    ("uuid", "1234"),
    ("list[integer]", ["x"]),
    ("list", {"a": 1}),
    ("object", [1]),
    ("object", "text"),
]


def typed(root: Any, type_name: str) -> Workflow:
    return Workflow(
        root, variables=[Variable(name="v", type=type_name)], outputs=[OutputDeclaration(name="o", type=type_name)]
    )


def same(found: Any, expected: Any) -> bool:
    return bool(found == expected or str(found) == expected)


@activity
async def give(value: Any) -> Any:
    return value


@activity(pure=True)
def give_pure(value: Any) -> Any:
    return value


class Gives(Activity, pure=True):
    value: Any = None
    result: Any = output()

    def execute(self, context: Context) -> None:
        context.set_output("result", self.value)


class Sets(Activity, pure=True):
    value: Any = None

    def execute(self, context: Context) -> None:
        context.set_variable("v", self.value)


WRITERS: dict[str, Callable[[Any], Activity]] = {
    "SetVariable": lambda value: SetVariable("v", value),
    "deep SetVariable": lambda value: Sequence(
        Sequence(SetVariable("v", value), variables={"a": 1}), variables={"b": 1}
    ),
    "SetOutput": lambda value: SetOutput("o", value),
    "effect": lambda value: give.bind(value, result="v"),
    "pure function": lambda value: give_pure.bind(value, result="v"),
    "class": lambda value: Gives(value, result="v"),
    "context": Sets,
    "loop": lambda value: ForEach(literal([value]), SetVariable("v", expr("CurrentValue"))),
    "current value": lambda value: ForEach(literal([value]), WriteLine("x"), current_value="v"),
    "python script": lambda value: Sequence(RunScript("v = given", language="python"), variables={"given": value}),
    "javascript": lambda value: Sequence(
        RunScript("setVariable('v', getVariable('given'))", language="javascript"), variables={"given": value}
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("type_name", "value", "expected"), TABLE)
async def test_values_are_converted(runner: Runner, writer: str, type_name: str, value: Any, expected: Any) -> None:
    result = await runner.run(typed(WRITERS[writer](value), type_name))

    assert result.status is Status.FINISHED, result.incidents
    assert same(result.outputs["o"] if writer == "SetOutput" else result.variables["v"], expected)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("type_name", "value"), WRONG)
async def test_values_that_cannot_be_converted_are_faults(
    runner: Runner, writer: str, type_name: str, value: Any
) -> None:
    result = await runner.run(typed(WRITERS[writer](value), type_name))

    assert result.status is Status.FAULTED
    (incident,) = result.incidents
    assert type_name in incident.message
    assert ("'o'" if writer == "SetOutput" else "'v'") in incident.message
    assert result.variables["v"] is None


async def test_the_message_has_name_type_and_a_short_value(runner: Runner) -> None:
    result = await runner.run(typed(SetVariable("v", "x" * 500), "integer"))

    assert result.incidents[0].type == "WrongType"
    assert result.incidents[0].message == (
        f"The variable 'v' must be of type integer. The str '{'x' * 59}… is not a valid integer. Give a whole number."
    )


async def test_the_payload_of_an_event_has_the_type_of_its_variable(runner: Runner) -> None:
    flow = typed(Event("go", result="v"), "integer")
    waiting = await runner.run(flow)

    assert (await runner.resume(waiting, payload="7")).variables["v"] == 7
    assert (await runner.resume(waiting, payload="many")).incidents[0].type == "WrongType"


async def test_a_script_that_fails_changes_no_variable(runner: Runner) -> None:
    variables = [Variable(name="a", type="integer", default=1), Variable(name="b", type="integer", default=2)]
    for language, source in (
        ("python", "a = 5\nb = 'x'"),
        ("javascript", "setVariable('a', 5); setVariable('b', 'x')"),
    ):
        result = await runner.run(Workflow(RunScript(source, language=language), variables=variables))
        assert result.status is Status.FAULTED
        assert result.variables == {"a": 1, "b": 2}


async def test_inputs_and_outputs_of_a_workflow_that_is_an_activity(make_engine: Any) -> None:
    inner = {
        "format": "holdfast/definition@1",
        "id": "Inner",
        "name": "Inner",
        "options": {"usable_as_activity": True},
        "inputs": [{"name": "n", "type": "integer"}],
        "outputs": [{"name": "m", "type": "integer"}],
        "root": {"type": "SetOutput", "inputs": {"name": "m", "value": {"$python": "n"}}},
    }
    engine = make_engine(definitions=[inner])

    def outer(value: Any) -> dict[str, Any]:
        return {
            "format": "holdfast/definition@1",
            "id": "outer",
            "variables": [{"name": "v", "type": "string"}],
            "root": {"type": "Inner", "inputs": {"n": value}, "outputs": {"m": "v"}},
        }

    assert (await engine.runner.run(outer("5"))).variables == {"v": "5"}
    failed = await engine.runner.run(outer("abc"))
    assert failed.status is Status.FAULTED
    assert "The input 'n' of 'Inner' must be of type integer" in failed.incidents[0].message


async def test_loops_count_in_a_variable_of_a_type(runner: Runner) -> None:
    result = await runner.run(typed(For(0, 3, body=WriteLine("x"), current_value="v"), "integer"))

    assert (result.status, result.variables) == (Status.FINISHED, {"v": 3})


# -- results of functions ----------------------------------------------------------------------------------------------


@activity
async def count_words(text: str) -> int:
    return text  # type: ignore[return-value] # the mistake


@activity(pure=True)
def count_letters(text: str) -> int:
    return text  # type: ignore[return-value] # the mistake


@activity
def find(number: int) -> Order:
    return {"number": number}  # type: ignore[return-value] # the mistake


@activity
async def forgets(number: int) -> Order:  # type: ignore[empty-body] # the mistake
    pass


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (count_words.bind("abc"), "result of 'count_words' must be of type int. The function returned str: 'abc'."),
        (count_letters.bind("abc"), "result of 'count_letters' must be of type int. The function returned str: 'abc'."),
        (find.bind(7), "result of 'find' must be of type Order. The function returned dict: {'number': 7}."),
        (forgets.bind(7), "result of 'forgets' must be of type Order. The function returned None."),
    ],
)
async def test_a_wrong_result_is_a_fault_that_names_the_activity(runner: Runner, call: Any, message: str) -> None:
    result = await runner.run(call)

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "WrongResult"
    assert message in result.incidents[0].message
    assert isinstance(result._live.error, WrongResult)
    assert isinstance(result._live.error, WrongType)


async def test_a_wrong_result_is_not_retried(runner: Runner, clock: VirtualClock) -> None:
    result = await runner.run(count_words.bind("abc", retry=Retry(attempts=5)), wait=True)

    assert (result.status, result.incidents[0].attempt) == (Status.FAULTED, 1)


@workflow
async def totals(text: str) -> int:
    return text  # type: ignore[return-value] # the mistake


@workflow
async def is_long(text: str) -> int:
    return len(text) > 3


@workflow
async def forgetful(text: str) -> str:
    if text:
        return text
    return None  # type: ignore[return-value] # the mistake


async def test_the_result_of_a_workflow_function(runner: Runner) -> None:
    wrong = await runner.run(totals, {"text": "abc"})
    right = await runner.run(is_long, {"text": "abcd"})
    none = await runner.run(forgetful, {"text": ""})

    assert wrong.status is Status.FAULTED
    assert "result of 'totals' must be of type integer. The function returned str: 'abc'." in wrong.incidents[0].message
    assert right.outputs["result"] is True
    assert "The function returned None." in none.incidents[0].message


async def test_inputs_of_a_start_are_strict(runner: Runner) -> None:
    with pytest.raises(InvalidInput, match="text"):
        await runner.run(totals, {"text": 5})
