"""The words: in compiled workflows with an engine, and in the function that is called directly."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from holdfast import Holdfast, Retry, RunResult, Status, Workflow, activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import (
    ask,
    compensate,
    doubles,
    first,
    gather,
    parallel,
    poll,
    run_child,
    sleep,
    wait_for,
)
from holdfast.errors import ActivityFault, DefinitionError, PayloadRefused
from holdfast.testing.clock import VirtualClock

RUNNING = {"now": 0, "most": 0}
CALLS: list[Any] = []


@dataclass
class Approval:
    approved: bool
    by: str = "?"


class Outer:
    @dataclass
    class Inner:
        number: int


class Declined(Exception):
    pass


@activity
async def reserve(line: str) -> str:
    CALLS.append(line)
    if line == "bad":
        raise Declined(line)
    return f"r-{line}"


@activity(pure=True)
async def double(x: int) -> int:
    return 2 * x


@activity
async def flaky(x: int) -> int:
    CALLS.append(x)
    if len(CALLS) < 3:
        raise ValueError(x)
    return x


@activity
async def counted(x: int) -> int:
    CALLS.append(x)
    return len(CALLS)


@workflow
async def napping(long: bool) -> str:
    await sleep(timedelta(minutes=5))
    if long:
        await sleep(datetime(2100, 1, 1, tzinfo=UTC))
    return "awake"


@workflow
async def approving(order: str) -> Any:
    answer = await wait_for(
        Approval, key=order, timeout=timedelta(days=3), default=Approval(False), where=lambda event: event.by != "spam"
    )
    return answer.approved, answer.by


@workflow
async def impatient() -> str:
    try:
        await wait_for("never", timeout=timedelta(seconds=1))
    except TimeoutError as error:
        return str(error)
    return "no"


@workflow
async def racing() -> Any:
    return await first(wait_for(Approval), sleep(timedelta(hours=1)))


@workflow
async def reserving(lines: list[str], limit: int) -> Any:
    async with parallel(limit=limit) as branches:
        for line in lines:
            if line:
                branches.start(reserve(line))
    return branches.results


HEALED: set[str] = set()


@activity
async def heal(name: str) -> str:
    if name == "bad" and name not in HEALED:
        raise ValueError(name)
    return name


@workflow
async def keen(names: list[str], limit: int) -> list[str]:
    async with parallel(limit=limit) as branches:
        for name in names:
            branches.start(heal(name))
    return branches.results


@workflow
async def both(lines: list[str]) -> Any:
    try:
        return await gather(reserve(lines[0]), reserve(lines[1]), double(3))
    except Declined as error:
        return f"declined {error}"


@workflow
async def shipping(order: str, speed: int = 2) -> Any:
    return [order, speed, await reserve(order)]


@workflow
async def parent(order: str) -> Any:
    return await run_child(shipping, order), await shipping(order, speed=9)


@workflow
async def parents(orders: list[str]) -> Any:
    try:
        return await gather(
            run_child(shipping, "x"),
            run_child(shipping, "y", speed=5),
            *[run_child(shipping, order) for order in orders],
        )
    except ActivityFault as error:
        return str(error).rpartition(" ")[2].rstrip(".")


@workflow
async def asking() -> Any:
    answer = await ask("role:boss", form=Approval, about={"order": 7})
    return answer.approved


@workflow
async def asking_for_a_day() -> str:
    answer = await first(ask("role:boss", form=Approval, title="Today?"), sleep(until=timedelta(days=1)))
    return answer.by if answer is not None else "nobody"


@workflow
async def patient(patience: timedelta = timedelta(days=3), price: Decimal = Decimal("1.50")) -> Decimal:
    await sleep(patience)
    return price


@workflow
async def hasty_sleep(seconds: Any) -> None:
    await sleep(seconds)


@workflow
async def hasty_wait(seconds: Any) -> None:
    await wait_for("go", timeout=seconds)


@workflow
async def asking_both() -> list[bool]:
    answers = await gather(*[ask(name, form=Approval) for name in ("ann", "bob")])
    return [answer.approved for answer in answers]


@workflow
async def polling() -> Any:
    return await poll(counted(1), until=lambda x: x == 3, every=timedelta(seconds=5))


@workflow
async def travelling(fails: bool) -> Any:
    try:
        for place in ("flight", "hotel"):
            await reserve(place)
            await compensate(reserve(f"no {place}"))
        if fails:
            await reserve("bad")
        return await wait_for("home")
    except Declined:
        await compensate()
        return CALLS


@workflow
async def retrying() -> Any:
    return await flaky.options(retry=Retry(attempts=5, delay=timedelta(0)))(7)


@workflow
async def waiting_inside() -> int:
    return (await wait_for(Outer.Inner)).number


@workflow
async def waiting_for_a_variable() -> Any:
    kind = {"approval": Approval}["approval"]
    return await wait_for(kind)


@pytest.fixture
def engine() -> Any:
    CALLS.clear()
    made = Holdfast(entry_points=False, clock=VirtualClock(), definitions=[shipping], types=[Approval])
    yield made
    made.close()


def carried(engine: Holdfast, result: RunResult, of: Any) -> RunResult:
    return engine.runner.load(json.loads(json.dumps(result.state)), of)


async def test_sleep_is_a_bookmark_with_a_moment(engine: Holdfast) -> None:
    result = await engine.runner.run(napping, {"long": True})
    first_due = result.bookmarks[0].due
    result = await engine.runner.resume(carried(engine, result, napping))

    assert first_due == engine.clock.now() + timedelta(minutes=5)
    assert result.bookmarks[0].due == datetime(2100, 1, 1, tzinfo=UTC)
    assert (await engine.runner.resume(result)).outputs == {"result": "awake"}


@pytest.mark.parametrize(("flow", "told"), [(hasty_sleep, "sleep(…)"), (hasty_wait, "wait_for(timeout=…)")])
async def test_seconds_without_a_unit_are_told(flow: Workflow, told: str, engine: Holdfast) -> None:
    result = await engine.runner.run(flow, {"seconds": 5})

    message = f"{told} takes a timedelta or an aware datetime, not 5. Write timedelta(seconds=5)."
    assert [item.message for item in result.incidents] == [message]


async def test_wait_for_has_an_address_a_type_and_a_test(engine: Holdfast) -> None:
    result = await engine.runner.run(approving, {"order": "o1"})
    event, timeout = result.bookmarks

    assert event.payload == {"event_name": "Approval", "key": "o1"}
    passed_by = await engine.runner.resume(result, event, {"approved": True, "by": "spam"})
    assert passed_by.status is Status.SUSPENDED
    answered = await engine.runner.resume(carried(engine, passed_by, approving), event, {"approved": True, "by": "Ada"})
    assert answered.outputs == {"result": (True, "Ada")}
    assert (await engine.runner.resume(result, timeout)).outputs == {"result": (False, "?")}


@pytest.mark.parametrize(
    ("payload", "place", "told"),
    [
        (None, "", "The payload is missing."),
        ("", "", "The payload is missing."),
        ("yes", "", f"The str 'yes' is not a {__name__}:Approval. Give an object with the fields of Approval."),
        ({}, "/approved", "The field is missing."),
        ({"approved": "perhaps"}, "/approved", "Expected `bool`, got `str`."),
    ],
)
async def test_an_event_of_another_shape_is_refused(payload: Any, place: str, told: str, engine: Holdfast) -> None:
    waits = await engine.runner.run(racing)
    event = next(item for item in waits.bookmarks if item.name == "Event")

    with pytest.raises(PayloadRefused) as caught:
        await engine.runner.resume(waits, event, payload)

    (problem,) = caught.value.problems
    remedy = "An Approval has: approved (boolean), by (string, optional)."
    assert (problem.path, problem.message, problem.remedy) == (place, told, remedy)
    assert caught.value.event_name == "Approval"
    answered = await engine.runner.resume(waits, event, {"approved": True})
    assert answered.outputs == {"result": Approval(True)}


async def test_an_event_class_inside_another(engine: Holdfast) -> None:
    result = await engine.runner.run(waiting_inside)

    assert result.bookmarks[0].payload["event_name"] == "Inner"
    assert (await engine.runner.resume(result, None, {"number": 3})).outputs == {"result": 3}


async def test_an_event_class_in_a_variable_is_told(engine: Holdfast) -> None:
    result = await engine.runner.run(waiting_for_a_variable)

    assert "Write wait_for(Approval)" in result.incidents[0].message


async def test_a_wait_without_key_is_for_this_instance(engine: Holdfast) -> None:
    result = await engine.runner.run(racing, instance_id="me")

    assert {"event_name": "Approval", "instance": "me"} in [item.payload for item in result.bookmarks]


async def test_without_a_default_the_timeout_is_an_exception(engine: Holdfast) -> None:
    result = await engine.runner.run(impatient)
    result = await engine.runner.resume(result, result.bookmarks[1])

    assert result.outputs == {"result": "No never event arrived before the timeout."}


@pytest.mark.parametrize("name", ["Event", "Delay"])
async def test_the_first_wins_and_the_other_is_canceled(name: str, engine: Holdfast) -> None:
    result = carried(engine, await engine.runner.run(racing), racing)
    winner = next(item for item in result.bookmarks if item.name == name)
    result = await engine.runner.resume(result, winner, {"approved": True} if name == "Event" else None)

    assert result.status is Status.FINISHED
    assert result.outputs == {"result": Approval(True) if name == "Event" else None}


async def test_parallel_gives_results_in_order(engine: Holdfast) -> None:
    result = await engine.runner.run(reserving, {"lines": ["a", "", "b", "c"], "limit": 2})

    assert result.outputs == {"result": ["r-a", "r-b", "r-c"]}


async def test_nothing_to_start_is_fine(engine: Holdfast) -> None:
    assert (await engine.runner.run(reserving, {"lines": [], "limit": 1})).outputs == {"result": []}


async def test_gather_gives_all_or_the_first_failure(engine: Holdfast) -> None:
    assert (await engine.runner.run(both, {"lines": ["a", "b"]})).outputs == {"result": ["r-a", "r-b", 6]}
    assert (await engine.runner.run(both, {"lines": ["a", "bad"]})).outputs == {"result": "declined bad"}


@pytest.mark.parametrize("limit", [1, 2, 9])
async def test_what_a_failure_canceled_begins_anew_when_that_is_retried(limit: int, engine: Holdfast) -> None:
    failed = await engine.runner.run(keen, {"names": ["a", "b", "bad", "c", "d"], "limit": limit})
    assert failed.status is Status.FAULTED
    HEALED.add("bad")
    try:
        done = await engine.runner.retry(carried(engine, failed, keen))
    finally:
        HEALED.clear()

    assert done.outputs == {"result": ["a", "b", "bad", "c", "d"]}


async def test_a_child_is_an_instance_of_its_own_a_call_is_not(engine: Holdfast) -> None:
    result = await engine.runner.run(parent, {"order": "o"})

    assert result.outputs == {"result": (["o", 2, "r-o"], ["o", 9, "r-o"])}
    assert [node.type for node in parent.definition.root.walk()].count("RunChild") == 1


async def test_children_at_once(engine: Holdfast) -> None:
    result = await engine.runner.run(parents, {"orders": ["a", "b"]})

    assert result.outputs == {"result": [["x", 2, "r-x"], ["y", 5, "r-y"], ["a", 2, "r-a"], ["b", 2, "r-b"]]}


async def test_a_child_that_fails_is_the_failure_of_gather(engine: Holdfast) -> None:
    assert (await engine.runner.run(parents, {"orders": ["bad"]})).outputs == {"result": "faulted"}


async def test_a_person_fills_in_a_form(engine: Holdfast) -> None:
    result = await engine.runner.run(asking)
    bookmark = result.bookmarks[0]

    task = bookmark.metadata["task"]
    assert (task["role"], task["assignee"], task["about"]) == ("boss", None, {"order": 7})
    assert task["form"]["properties"]["approved"] == {"type": "boolean"}
    assert (await engine.runner.resume(result, bookmark, {"approved": True})).outputs == {"result": True}


async def test_defaults_that_nobody_can_change(engine: Holdfast) -> None:
    result = await engine.runner.run(patient)
    assert result.bookmarks[0].due == engine.clock.now() + timedelta(days=3)
    assert (await engine.runner.resume(carried(engine, result, patient))).outputs == {"result": Decimal("1.50")}


@pytest.mark.parametrize("name", ["HumanTask", "Delay"])
async def test_a_person_has_until_then(name: str, engine: Holdfast) -> None:
    result = carried(engine, await engine.runner.run(asking_for_a_day), asking_for_a_day)
    bookmark = next(item for item in result.bookmarks if item.name == name)
    payload = {"approved": True, "by": "Ada"} if name == "HumanTask" else None
    result = await engine.runner.resume(result, bookmark, payload)

    assert result.outputs == {"result": "Ada" if name == "HumanTask" else "nobody"}


async def test_several_people_are_asked_at_once(engine: Holdfast) -> None:
    result = await engine.runner.run(asking_both)
    assert [item.metadata["task"]["assignee"] for item in result.bookmarks] == ["ann", "bob"]
    for approved in (True, False):
        result = await engine.runner.resume(
            carried(engine, result, asking_both), result.bookmarks[0], {"approved": approved}
        )

    assert result.outputs == {"result": [True, False]}


async def test_an_answer_that_is_none_fails_there(engine: Holdfast) -> None:
    result = await engine.runner.run(asking_for_a_day)
    task = next(item for item in result.bookmarks if item.name == "HumanTask")
    result = await engine.runner.resume(result, task, {"by": "Ada"})

    assert result.status is Status.FAULTED
    assert "missing required field `approved`" in result.incidents[0].message


async def test_poll_calls_again_until_it_is_so(engine: Holdfast) -> None:
    result = await engine.runner.run(polling)
    while result.bookmarks:
        result = await engine.runner.resume(carried(engine, result, polling))

    assert result.outputs == {"result": 3}
    assert CALLS == [1, 1, 1]


async def test_work_is_taken_back_the_last_first(engine: Holdfast) -> None:
    await engine.runner.run(travelling, {"fails": True})

    assert CALLS == ["flight", "hotel", "bad", "no hotel", "no flight"]


async def test_canceling_takes_it_back_too(engine: Holdfast) -> None:
    result = carried(engine, await engine.runner.run(travelling, {"fails": False}), travelling)
    result = await engine.runner.cancel(result)

    assert result.status is Status.CANCELED
    assert CALLS == ["flight", "hotel", "no hotel", "no flight"]


# -- called directly -----------------------------------------------------------------------------------------------------


async def test_called_directly_it_is_the_function() -> None:
    assert await both(["a", "b"]) == ["r-a", "r-b", 6]
    assert await both(["bad", "b"]) == "declined bad"
    assert await reserving(["a", "b"], 1) == ["r-a", "r-b"]
    assert await parent("o") == (["o", 2, "r-o"], ["o", 9, "r-o"])
    CALLS.clear()
    assert await travelling(True) == ["flight", "hotel", "bad", "no hotel", "no flight"]


async def test_doubles_answer_for_those_outside() -> None:
    naps: list[Any] = []

    async def told(event: Any, **options: Any) -> Approval:
        return Approval(True, options["key"])

    with doubles(wait_for=told, sleep=naps.append, ask=lambda who, **options: Approval(False)):
        assert await approving("o2") == (True, "o2")
        assert await napping(True) == "awake"
        assert await asking() is False
    assert naps == [timedelta(minutes=5), datetime(2100, 1, 1, tzinfo=UTC)]


async def test_without_doubles_it_says_what_to_do() -> None:
    with pytest.raises(DefinitionError, match="doubles"):
        await approving("o")


# -- reflection ----------------------------------------------------------------------------------------------------------


def test_annotations_become_types_and_docstrings_descriptions() -> None:
    definition = shipping.definition

    assert [(item.name, item.type, item.required, item.default) for item in definition.inputs] == [
        ("order", "string", True, None),
        ("speed", "integer", False, 2),
    ]
    assert [item.name for item in definition.outputs] == ["result"]


def test_a_local_that_an_activity_fills_has_the_type_of_its_result() -> None:
    types = {item.name: item.type for item in failing.definition.root.variables}

    assert (types["x"], types["y"]) == ("integer", "integer")


async def test_a_mutated_local_and_its_second_name_stay_one_object(engine: Holdfast) -> None:
    result = await engine.runner.run(sharing)
    while result.bookmarks:
        result = await engine.runner.resume(carried(engine, result, sharing))

    assert result.outputs == {"result": (True, [1, 2, 3])}


@workflow
async def sharing() -> Any:
    items = [1]
    box = {"items": items, "again": items}
    await sleep(timedelta(seconds=1))
    items.append(2)
    await sleep(timedelta(seconds=1))
    box["again"].append(3)
    return box["items"] is items, items


async def test_an_effect_is_retried_as_its_options_say(engine: Holdfast) -> None:
    result = await engine.runner.run(retrying, wait=True)

    assert result.outputs == {"result": 7}
    assert CALLS == [7, 7, 7]


@workflow
async def failing(x: int) -> int:
    y = await double(x)
    return y // (y - 4)


async def test_an_incident_names_the_users_line(engine: Holdfast) -> None:
    result = await engine.runner.run(failing, {"x": 2})

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ZeroDivisionError"
    line = failing.function.__code__.co_firstlineno + 3
    assert result.incidents[0].source == f"{sys.modules[__name__].__file__}:{line}"
