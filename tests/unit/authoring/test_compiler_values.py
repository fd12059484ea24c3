"""What locals may hold over an await, and what happens to the rest: never silence."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, RunResult, Status
from holdfast.activities.code.attempt import matches
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import sleep
from holdfast.execution.effect_failure import RemoteError
from holdfast.execution.heap import UnstorableValue, read_heap, write_heap
from holdfast.execution.record import EffectFailure
from holdfast.model.values import TypeRegistry
from holdfast.testing.clock import VirtualClock


def numbers() -> Iterator[int]:
    yield from range(3)


@workflow
async def reading_before() -> int:
    stream = io.StringIO("abc")
    size = len(stream.read())
    await sleep(timedelta(seconds=1))
    return size


@workflow
async def reading_after() -> str:
    stream = io.StringIO("abc")
    await sleep(timedelta(seconds=1))
    return stream.read()


@workflow
async def keeping_a_lambda() -> int:
    n = 1
    kept: list[Callable[[], int]] = []
    kept.append(lambda: n)
    while n < 3:
        n += 1
        if n > 100:
            await sleep(timedelta(seconds=1))
    return kept[0]()


@workflow
async def looping_over_a_generator() -> None:
    for _ in numbers():
        await sleep(timedelta(seconds=1))


@pytest.fixture
def engine() -> Iterator[Holdfast]:
    made = Holdfast(entry_points=False, clock=VirtualClock())
    yield made
    made.close()


async def woken(engine: Holdfast, of: Any) -> RunResult:
    result = await engine.runner.run(of)
    if result.bookmarks:
        result = engine.runner.load(json.loads(json.dumps(result.state)), of)
        result = await engine.runner.resume(result)
    return result


async def test_what_cannot_be_kept_and_is_not_read_again_does_no_harm(engine: Holdfast) -> None:
    assert (await woken(engine, reading_before)).outputs == {"result": 3}


async def test_what_could_not_be_kept_is_told_by_name_when_it_is_read(engine: Holdfast) -> None:
    result = await woken(engine, reading_after)

    assert result.status is Status.FAULTED
    assert "'stream'" in result.incidents[0].message
    assert "could not be stored across an await" in result.incidents[0].message


async def test_a_lambda_that_sees_locals_is_not_kept_for_later(engine: Holdfast) -> None:
    result = await woken(engine, keeping_a_lambda)

    assert result.incidents[0].type == "ValueRefused"
    assert "module level" in result.incidents[0].message


async def test_a_loop_that_awaits_over_a_generator_fails_when_it_starts(engine: Holdfast) -> None:
    result = await woken(engine, looping_over_a_generator)

    assert not result.bookmarks
    assert "Loop over a list" in result.incidents[0].message


def carried(value: Any, **references: Any) -> Any:
    written = write_heap([{"v": value}], TypeRegistry(), references)
    frames = read_heap(json.loads(json.dumps(written)), TypeRegistry(), references)
    return frames[0][0]["v"]


@pytest.mark.parametrize("taken", range(4))
@pytest.mark.parametrize(
    "make",
    [
        lambda: iter([1, 2, 3]),
        lambda: iter((1, 2, 3)),
        lambda: iter("abc"),
        lambda: iter(b"abc"),
        lambda: iter(range(3)),
        lambda: iter(range(10**30, 10**30 + 3)),
        lambda: reversed([1, 2, 3]),
        lambda: enumerate([4, 5, 6], 7),
        lambda: zip([1, 2, 3], {"a": 1, "b": 2, "c": 3}.items(), strict=False),
        lambda: iter({"a": 1, "b": 2, "c": 3}),
        lambda: reversed({"a": 1, "b": 2, "c": 3}.values()),
        lambda: iter({1, 2, 3}),
    ],
)
def test_an_iterator_goes_on_where_it_stood(make: Callable[[], Iterator[Any]], taken: int) -> None:
    plain, kept = make(), make()
    for _ in range(taken):
        next(plain)
        next(kept)

    assert list(carried(carried(kept))) == list(plain)


def test_a_list_that_shrank_below_its_iterator_ends_it_as_in_python() -> None:
    items = [1, 2, 3, 4]
    iterator = iter(items)
    for _ in range(3):
        next(iterator)
    del items[1:]
    items_again, again = carried([items, iterator])
    items.extend([7, 8, 9])
    items_again.extend([7, 8, 9])

    assert list(again) == list(iterator)


def test_state_names_no_function_that_the_definition_does_not() -> None:
    written = write_heap([{"v": json.dumps}], TypeRegistry(), {})

    assert written["frames"] == [{}]
    assert "dumps" in written["lost"][0]["v"]
    with pytest.raises(Exception, match="does not refer to"):
        read_heap(
            {"frames": [{"v": {"$t": "reference", "of": "os:system", "in": []}}], "lost": [{}]}, TypeRegistry(), {}
        )
    assert issubclass(UnstorableValue, ValueError)


class Declined(Exception):
    pass


class Refused(Declined):
    pass


def test_a_failure_from_elsewhere_is_caught_by_the_names_of_its_classes() -> None:
    failure = EffectFailure(type="Refused", message="no", bases=(f"{__name__}:Declined", "Exception"))
    error = RemoteError(failure)

    assert matches(error, Declined)
    assert matches(error, (KeyError, Refused))
    assert not matches(error, KeyError)
    assert matches(Refused(), Declined)
    with pytest.raises(TypeError):
        matches(error, 5)
