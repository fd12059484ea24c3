"""What a BulkDispatchWorkflows keeps: results that came before are not written again (rule H14)."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Runner, Status, Workflow
from holdfast.activities.bulk import CHUNK, BulkDispatchWorkflows, Progress, dump, load
from holdfast.execution.state import ActivationState, State
from holdfast.model.values import TypeRegistry
from holdfast.runtime.commits.large_values import pack_state

TYPES = TypeRegistry()


@pytest.mark.parametrize("wait", [True, False])
async def test_in_a_runner_a_workflow_that_does_not_exist_faults(runner: Runner, wait: bool) -> None:
    result = await runner.run(Workflow(BulkDispatchWorkflows("nowhere", [1, 2], wait=wait), id="bulk"))

    assert result.status is Status.FAULTED
    assert "nowhere" in result.incidents[0].message


def progress(total: int) -> Progress:
    return Progress(total=total, items=[], request={"wait": True}, next=total)


def packed(found: Progress) -> Any:
    """As in a state: among the activations of an instance."""
    one = ActivationState(id=1, node="bulk", outer=0, data=dump(found, TYPES))
    return pack_state(State(id="i", status=Status.RUNNING, scopes=[], activations=[one]))


def ended(index: int) -> list[Any]:
    return [index, "finished", {"text": f"result number {index}"}]


def test_it_survives_being_written() -> None:
    found = progress(1_000)
    for index in range(700):
        found.add(ended(699 - index))

    again = load(dump(found, TYPES), None, TYPES)  # type: ignore[arg-type]  # it does not ask for the activation

    assert list(again.ended()) == list(found.ended())
    assert again.done == set(range(700))
    assert (again.total, again.next, again.request) == (1_000, 1_000, {"wait": True})


def test_what_is_full_is_written_once() -> None:
    """A commit writes the chunk that is open; of the others the state has a name each."""
    found = progress(10_000)
    written: set[str] = set()
    values, states = [], []
    for index in range(10_000):
        found.add(ended(index))
        if index % CHUNK == CHUNK - 1:
            state = packed(found)
            values.append(sum(len(data) for ref, data in state.values.items() if ref not in written))
            states.append(len(state.state))
            written |= set(state.values)

    assert max(values) <= min(values) * 1.2
    assert max(states) <= 80 * len(states)
