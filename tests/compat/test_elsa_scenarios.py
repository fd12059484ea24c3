"""Facts about Elsa that no document can show: containers that handle faults, and work that is withdrawn before it ran."""

from __future__ import annotations

from holdfast import Activity, Holdfast, port
from holdfast.activities import Fault, Sequence, Try, WriteLine
from holdfast.model.instance import JournalEvent, Status
from holdfast.ports import ChildResult, Context


class Withdraws(Activity, pure=True, container=True):
    """Schedules two children, takes the first back before it ran, and completes with the second."""

    first: Activity | None = port()
    second: Activity | None = port()

    def execute(self, context: Context) -> None:
        context.schedule(self.first, self.child_done, tag="first")
        context.schedule(self.second, self.child_done)
        context.cancel_children("first")

    def child_done(self, context: Context, result: ChildResult) -> None:
        context.complete()


class GivesUp(Activity, pure=True, container=True):
    """Schedules a child and cancels itself."""

    child: Activity | None = port()

    def execute(self, context: Context) -> None:
        context.schedule(self.child)
        context.cancel()


async def test_work_withdrawn_before_it_ran_does_not_run() -> None:
    workflow = Sequence(
        WriteLine("Start"), Withdraws(first=WriteLine("Withdrawn"), second=WriteLine("Kept")), WriteLine("End")
    )
    result = await Holdfast().runner.run(workflow)
    assert result.lines == ["Start", "Kept", "End"]
    assert result.status is Status.FINISHED


async def test_a_container_that_cancels_itself_takes_its_work_back() -> None:
    workflow = Sequence(WriteLine("Start"), GivesUp(child=WriteLine("Never")), WriteLine("End"))
    result = await Holdfast().runner.run(workflow)
    assert result.lines == ["Start"]


async def test_a_fault_that_a_container_handles_leaves_no_incident() -> None:
    workflow = Sequence(Try(body=Fault("Mouldy"), catches=[{"activity": WriteLine("Caught")}]))
    result = await Holdfast().runner.run(workflow)
    assert result.status is Status.FINISHED
    assert result.incidents == []
    assert result.lines == ["Caught"]
    faulted = [entry.activity_type for entry in result.journal if entry.event is JournalEvent.FAULTED]
    assert faulted == ["Fault"]


async def test_a_fault_that_no_catch_names_goes_on_to_the_next_container() -> None:
    inner = Try(body=Fault("Mouldy"), catches=[{"errors": ["TimeoutError"], "activity": WriteLine("Too late")}])
    result = await Holdfast().runner.run(Try(body=inner, catches=[{"activity": WriteLine("Outside")}]))
    assert result.lines == ["Outside"]
    assert result.status is Status.FINISHED


async def test_a_fault_in_a_catch_counts_as_not_handled() -> None:
    result = await Holdfast().runner.run(Try(body=Fault("first"), catches=[{"activity": Fault("second")}]))
    assert result.status is Status.FAULTED
    assert [incident.message for incident in result.incidents] == ["second"]
