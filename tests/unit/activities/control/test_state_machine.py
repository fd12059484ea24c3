"""The state machine: triggers in each state, conditions, actions, entry and exit."""

from __future__ import annotations

from typing import Any

from holdfast import Runner, Status, Workflow, expr
from holdfast.activities import Event, Sequence, StateMachine, WriteLine
from holdfast.model.instance import JournalEvent


def transition(name: str, source: str, target: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "from": source, "to": target, "trigger": Event(name, id=name), **more}


def order(**conditions: Any) -> StateMachine:
    def say(text: str) -> WriteLine:
        return WriteLine(text)

    return StateMachine(
        states=[
            {"name": "New", "entry": say("enter new"), "exit": say("leave new")},
            {"name": "Paid", "entry": say("enter paid")},
            {"name": "Done", "entry": say("enter done")},
        ],
        transitions=[
            transition("pay", "New", "Paid", action=say("paying"), **conditions),
            transition("drop", "New", "Done"),
            transition("ship", "Paid", "Done", action=say("shipping")),
            transition("refund", "Paid", "New"),
        ],
        initial="New",
        current="state",
    )


def workflow(**conditions: Any) -> Workflow:
    return Workflow(Sequence(order(**conditions), WriteLine("end")), variables={"state": None, "ok": False})


def waiting(result: Any) -> list[str]:
    return [item.activity_id for item in result.bookmarks]


async def test_all_triggers_of_a_state_wait_at_once(runner: Runner) -> None:
    result = await runner.run(workflow())

    assert result.lines == ["enter new"]
    assert waiting(result) == ["pay", "drop"]
    assert result.variables["state"] == "New"


async def test_the_first_trigger_wins_then_action_exit_entry(runner: Runner) -> None:
    result = await runner.run(workflow())
    result = await runner.resume(result, result.bookmark("pay"))

    assert result.lines == ["enter new", "paying", "leave new", "enter paid"]
    assert waiting(result) == ["ship", "refund"]
    assert result.variables["state"] == "Paid"


async def test_a_state_without_a_way_out_completes_the_machine(runner: Runner) -> None:
    result = await runner.run(workflow())
    result = await runner.resume(result, result.bookmark("pay"))
    result = await runner.resume(result, result.bookmark("ship"))

    assert result.lines[4:] == ["shipping", "enter done", "end"]
    assert result.status is Status.FINISHED
    assert result.variables["state"] == "Done"


async def test_a_state_can_be_entered_again(runner: Runner) -> None:
    result = await runner.run(workflow())
    for name in ("pay", "refund", "pay", "refund", "drop"):
        result = await runner.resume(result, result.bookmark(name))

    assert result.lines.count("enter new") == 3
    assert result.lines[-3:] == ["leave new", "enter done", "end"]


async def test_a_trigger_whose_condition_fails_is_armed_again_alone(runner: Runner) -> None:
    result = await runner.run(workflow(condition=expr("ok")))
    before = {item.activity_id: item.id for item in result.bookmarks}
    result = await runner.resume(result, result.bookmark("pay"))
    after = {item.activity_id: item.id for item in result.bookmarks}

    assert result.lines == ["enter new"]
    assert after.keys() == before.keys()
    assert after["drop"] == before["drop"]
    assert after["pay"] != before["pay"]
    decided = [entry.data for entry in result.journal if entry.event is JournalEvent.DECIDED][-1]
    assert decided == {"transition": "pay", "answer": False, "saw": {"ok": False}}


async def test_a_condition_that_cannot_be_evaluated_is_the_machines_fault_and_can_be_retried(runner: Runner) -> None:
    result = await runner.run(workflow(condition=expr("1 / 0 > 0")))
    faulted = await runner.resume(result, result.bookmark("pay"))
    again = await runner.retry(faulted)

    assert faulted.status is Status.FAULTED
    assert [item.activity_type for item in faulted.incidents] == ["StateMachine"]
    assert again.status is Status.SUSPENDED
    assert waiting(again) == ["pay", "drop"]


async def test_an_unknown_initial_state_completes(runner: Runner) -> None:
    machine = StateMachine(states=[{"name": "A"}], transitions=[transition("go", "A", "A")], initial="Nowhere")
    result = await runner.run(Sequence(machine, WriteLine("end")))

    assert result.lines == ["end"]


async def test_a_transition_to_an_unknown_state_is_not_armed(runner: Runner) -> None:
    machine = StateMachine(states=[{"name": "A"}], transitions=[transition("go", "A", "Nowhere")])
    result = await runner.run(machine)

    assert result.status is Status.FINISHED


async def test_a_machine_without_states_completes(runner: Runner) -> None:
    assert (await runner.run(StateMachine())).status is Status.FINISHED


async def test_a_trigger_that_does_not_wait_goes_on_at_once(runner: Runner) -> None:
    machine = StateMachine(
        states=[{"name": "A"}, {"name": "B"}],
        transitions=[{"from": "A", "to": "B", "trigger": WriteLine("trigger")}],
    )
    result = await runner.run(Sequence(machine, WriteLine("end")))

    assert result.lines == ["trigger", "end"]
