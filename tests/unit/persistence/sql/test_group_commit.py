"""Group commit: lanes, queued batches, cancelled callers, errors and close."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome
from holdfast.persistence.sql.commit_grouping import BYTES_MAX, COMMITS_MAX, DISJOINT_INSTANCES, SAME_VERSIONS
from holdfast.persistence.sql.group_commit import GroupCommit
from holdfast.testing.store_rows import commit_of, instance

Run = Callable[[Sequence[Commit]], Awaitable[list[CommitOutcome]]]


def one_lane(commit: Run, *, inline: bool = True) -> GroupCommit:
    return GroupCommit(commit, DISJOINT_INSTANCES, lanes=1, inline=inline)


async def _batches(batches: Sequence[Sequence[Commit]], *, inline: bool = True) -> list[list[str]]:
    """The instances of each commit when all batches are submitted at once on one lane."""
    seen: list[list[str]] = []

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        seen.append([each.instance.id for each in batch if each.instance is not None])
        await asyncio.sleep(0)
        return [COMMITTED] * len(batch)

    group_commit = one_lane(commit, inline=inline)
    outcomes = await asyncio.gather(*(group_commit.submit(batch) for batch in batches))
    await group_commit.close()
    assert [len(outcome) for outcome in outcomes] == [len(batch) for batch in batches]
    return seen


async def test_queued_batches_are_committed_together_up_to_the_limit() -> None:
    seen = await _batches([[commit_of(instance(f"i{number}"))] for number in range(300)])

    assert [len(batch) for batch in seen] == [1, COMMITS_MAX, COMMITS_MAX, 299 - 2 * COMMITS_MAX]


async def test_batches_of_one_turn_share_a_commit_unless_inline() -> None:
    seen = await _batches([[commit_of(instance(f"i{number}"))] for number in range(3)], inline=False)

    assert seen == [["i0", "i1", "i2"]]


async def test_a_batch_never_names_an_instance_twice() -> None:
    same = [commit_of(instance("a", version)) for version in (1, 2, 3)]
    seen = await _batches([[same[0]], [same[1]], [commit_of(instance("b"))], [same[2]]])

    assert seen == [["a"], ["a", "b"], ["a"]]


async def test_batches_are_capped_by_bytes() -> None:
    large = [commit_of(instance(f"i{number}", state=b"x" * (BYTES_MAX // 3))) for number in range(7)]

    assert [len(batch) for batch in await _batches([[commit] for commit in large])] == [1, 3, 3]


@pytest.mark.parametrize("inline", [True, False])
async def test_lanes_limit_how_many_commits_run_at_once(inline: bool) -> None:
    running = most = 0

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return [COMMITTED] * len(batch)

    group_commit = GroupCommit(commit, SAME_VERSIONS, lanes=2, inline=inline)
    await asyncio.gather(*(group_commit.submit([commit_of(instance("a", version))]) for version in range(1, 20)))

    assert most == 2


async def test_an_inline_commit_runs_in_the_task_of_its_caller() -> None:
    tasks: list[asyncio.Task[object] | None] = []

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        tasks.append(asyncio.current_task())
        return [COMMITTED] * len(batch)

    for inline in (True, False):
        await one_lane(commit, inline=inline).submit([commit_of(instance("a"))])

    assert [task is asyncio.current_task() for task in tasks] == [True, False]


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("cancelled", [0, 1, 2])
async def test_a_cancelled_caller_cancels_no_commit_of_others(cancelled: int, inline: bool) -> None:
    started, go = asyncio.Event(), asyncio.Event()
    done: set[str] = set()

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        started.set()
        await go.wait()
        done.update(each.burst_id for each in batch)
        return [COMMITTED] * len(batch)

    group_commit = one_lane(commit, inline=inline)
    commits = [commit_of(instance(name)) for name in "abc"]
    callers = [asyncio.create_task(group_commit.submit([each])) for each in commits]
    await started.wait()
    callers[cancelled].cancel()
    go.set()
    await group_commit.close()

    own = {commits[0].burst_id} if inline and cancelled == 0 else set()  # Inline, the first runs in its caller's task.
    assert done == {each.burst_id for each in commits} - own
    assert [caller.cancelled() for caller in callers] == [place == cancelled for place in range(3)]


@pytest.mark.parametrize("inline", [True, False])
async def test_an_error_reaches_the_callers_of_its_group_only(inline: bool) -> None:
    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        await asyncio.sleep(0)
        if any(each.instance is not None and each.instance.id == "bad" for each in batch):
            raise LookupError("broken")
        return [COMMITTED] * len(batch)

    group_commit = one_lane(commit, inline=inline)

    with pytest.raises(LookupError):
        await group_commit.submit([commit_of(instance("bad"))])
    assert await group_commit.submit([commit_of(replace(instance("good")))]) == [COMMITTED]

    again = [[commit_of(instance("bad", version))] for version in (1, 2)]
    answers = await asyncio.gather(*map(group_commit.submit, again), return_exceptions=True)
    assert [type(answer) for answer in answers] == [LookupError] * 2
    await group_commit.close()


async def test_a_cancelled_lane_cancels_its_callers() -> None:
    started = asyncio.Event()

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        started.set()
        await asyncio.Event().wait()
        return []

    group_commit = one_lane(commit, inline=False)
    caller = asyncio.create_task(group_commit.submit([commit_of(instance("a"))]))
    await started.wait()
    (lane,) = group_commit._tasks
    lane.cancel()

    with pytest.raises(asyncio.CancelledError):
        await caller
    await group_commit.close()


@pytest.mark.parametrize("inline", [True, False])
async def test_a_batch_submitted_while_a_lane_ends_is_committed(inline: bool) -> None:
    """A lane's task is done before its done callback runs: a caller in between must not rely on that lane."""

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        return [COMMITTED] * len(batch)

    group_commit = one_lane(commit, inline=inline)
    for version in range(1, 50):
        async with asyncio.timeout(5):
            assert await group_commit.submit([commit_of(instance("a", version))]) == [COMMITTED]


@pytest.mark.parametrize("inline", [True, False])
async def test_close_waits_for_every_submitted_batch(inline: bool) -> None:
    done = 0

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        nonlocal done
        await asyncio.sleep(0)
        done += len(batch)
        return [COMMITTED] * len(batch)

    group_commit = one_lane(commit, inline=inline)
    callers = [asyncio.create_task(group_commit.submit([commit_of(instance("a", n))])) for n in range(1, 5)]
    await asyncio.sleep(0)
    await group_commit.close()

    assert done == 4
    await asyncio.gather(*callers)
