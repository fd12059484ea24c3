"""Declared types on every store: what is written is converted or faults, also after a resume, an effect and an alteration."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import Retry, Status, Workflow, activity
from holdfast.api import ModifyVariable
from holdfast.errors import ExecutionError, InvalidInput
from holdfast.management.runtime import ManagedRuntime
from tests.integration.conftest import Cluster

TABLE: list[tuple[str, Any, str]] = [
    ("integer", "5", "5"),
    ("number", "2.5", "2.5"),
    ("decimal", "2.50", "2.50"),
    ("string", 5, "5"),
    ("boolean", "true", "True"),
    ("datetime", "2031-05-01T12:00:00Z", "2031-05-01 12:00:00+00:00"),
    ("duration", "PT30S", "0:00:30"),
    ("list[integer]", ["1", 2], "[1, 2]"),
    ("object", '{"a": 1}', "{'a': 1}"),
]
WRONG: list[tuple[str, Any]] = [
    ("integer", "abc"), ("number", "abc"), ("decimal", "abc"), ("boolean", "abc"), ("datetime", "abc"),
    ("duration", "abc"), ("list[integer]", ["abc"]), ("object", "abc"),
]  # fmt: skip


@activity
async def give(value: Any) -> Any:
    return value


@activity
async def promises(value: Any) -> int:
    return value  # type: ignore[no-any-return] # sometimes a mistake


def document(name: str, type_name: str) -> dict[str, Any]:
    """Writes what an event brings by an event's result, an effect and SetVariable, then waits again."""
    variables = [{"name": item, "type": type_name} for item in ("a", "b", "c")]
    return {
        "format": "holdfast/definition@1",
        "id": f"typed-{name}",
        "variables": [*variables, {"name": "raw", "type": "any"}],
        "outputs": [{"name": "o", "type": type_name}],
        "root": {
            "type": "Sequence",
            "activities": [
                {"type": "Event", "inputs": {"event_name": "raw"}, "outputs": {"result": "raw"}},
                {"type": "Event", "inputs": {"event_name": "go"}, "outputs": {"result": "a"}},
                {"type": "give", "inputs": {"value": {"$python": "raw"}}, "outputs": {"result": "b"}},
                {"type": "SetVariable", "inputs": {"variable": "c", "value": {"$python": "raw"}}},
                {"type": "SetOutput", "inputs": {"name": "o", "value": {"$python": "raw"}}},
                {"type": "Event", "inputs": {"event_name": "end"}},
            ],
        },
    }


async def begun(runtime: ManagedRuntime, flow: Any) -> str:
    answer = await runtime.start(flow)
    assert answer.result is not None
    return answer.result.instance_id


async def test_the_table_of_types(cluster: Cluster) -> None:
    runtime = await cluster.node(work=True, activities=[give])
    for number, (type_name, value, expected) in enumerate(TABLE):
        identity = await begun(runtime, document(str(number), type_name))
        for event in ("raw", "go", "end"):
            await runtime.stimuli.event(event, value, instance_id=identity)

        async with asyncio.timeout(20):
            result = await runtime.wait_at_rest(identity)
        assert result.status is Status.FINISHED, (type_name, result.incidents)
        found = [result.variables[name] for name in ("a", "b", "c")]
        assert [str(item) for item in (*found, result.outputs["o"])] == [expected] * 4, type_name
        await cluster.check(runtime, identity)


async def test_wrong_values_are_faults_with_name_type_and_value(cluster: Cluster) -> None:
    runtime = await cluster.node(work=True, activities=[give])
    for number, (type_name, value) in enumerate(WRONG):
        identity = await begun(runtime, document(f"wrong{number}", type_name))
        for event in ("raw", "go"):
            await runtime.stimuli.event(event, value, instance_id=identity)

        async with asyncio.timeout(20):
            result = await runtime.wait_at_rest(identity)
        assert result.status is Status.FAULTED
        assert f"The variable 'a' must be of type {type_name}." in result.incidents[0].message
        assert "'abc'" in result.incidents[0].message
        await cluster.check(runtime, identity)


async def test_an_alteration_is_converted_or_refused(cluster: Cluster) -> None:
    runtime = await cluster.node(activities=[give])
    identity = await begun(runtime, document("altered", "integer"))

    await runtime.alterations.alter(identity, [ModifyVariable(variable="a", value="7")], who="ada")
    assert (await runtime.read(identity)).variables["a"] == 7
    with pytest.raises(ExecutionError, match="'a' cannot be 'abc'"):
        await runtime.alterations.alter(identity, [ModifyVariable(variable="a", value="abc")], who="ada")
    assert (await runtime.read(identity)).variables["a"] == 7


async def test_inputs_of_a_start_are_strict(cluster: Cluster) -> None:
    runtime = await cluster.node()
    flow = {
        "format": "holdfast/definition@1",
        "id": "strict",
        "inputs": [{"name": "n", "type": "integer"}],
        "root": {"type": "WriteLine", "inputs": {"text": "x"}},
    }

    with pytest.raises(InvalidInput, match="'n' must be of type integer"):
        await runtime.start(flow, {"n": "abc"})


async def test_a_wrong_result_of_a_function_faults_once(cluster: Cluster) -> None:
    runtime = await cluster.node(work=True, activities=[promises])
    flow = Workflow(promises.bind("abc", retry=Retry(attempts=3)), id="promises")
    identity = await begun(runtime, flow)

    async with asyncio.timeout(20):
        result = await runtime.wait_at_rest(identity)
    assert (result.status, result.incidents[0].attempt) == (Status.FAULTED, 1)
    assert (
        "The result of 'promises' must be of type int. The function returned str: 'abc'." in result.incidents[0].message
    )
