"""The store's figures have the names and goals that were promised, and what they are measured on is sound."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks import dbos_ratio, store_effects, store_loops, store_queue, store_resumes, store_space, store_starts
from benchmarks.groups import GROUPS
from benchmarks.store_databases import SQLITE, database, world
from benchmarks.store_sleepers import Sleepers, put_to_sleep
from benchmarks.store_turns import Sample, best_rate, in_flight, in_pairs, least_cpu, middle_ratio, rounds_of
from holdfast import Status

PROMISED = {
    "store.pg.per_step_ratio.1": "≥ 6",
    "store.pg.per_step_ratio.64": "≥ 25",
    "store.pg.per_step_ratio.512": "≥ 30",
    "store.pg.floor_fraction": "≥ 0.5",
    "store.pg.cpu_us_per_workflow": "≤ 55",
    "store.pg.p50_vs_insert": "≤ 1.6",
    "store.pg.resume_ratio.5k": "≥ 10",
    "store.pg.resume_ratio.1m": "≥ 8",
    "store.pg.resume_1m_over_5k": "≥ 0.5",
    "store.pg.resume_same_type.1m": "≥ 0.8",
    "store.effects_growth": "≤ 1.5",
    "store.pg.enqueue_per_s": "≥ 60000",
    "store.pg.dequeue_per_s": "≥ 60000",
    "store.pg.bytes_per_suspended": "≤ 450",
    "store.rss_mb_10k": "≤ 110",
    "dbos.pg.ratio.1": "≥ 40",
    "dbos.pg.ratio.64": "≥ 500",
    "dbos.sqlite.ratio.64": "≥ 500",
    "dbos.pg.step_ratio.1": "≥ 6",
    "dbos.pg.step_ratio.64": "≥ 60",
}


def test_every_promised_figure_has_its_stable_name_and_goal() -> None:
    found = {
        figure.name: figure.goal_text
        for group in GROUPS
        for figure in group.figures
        if figure.goal is not None and figure.name.startswith(("store.", "dbos."))
    }

    assert found == PROMISED


def test_every_group_is_measured_by_make_bench() -> None:
    ours = {
        *store_starts.GROUPS,
        *store_resumes.GROUPS,
        store_effects.GROUP,
        store_loops.GROUP,
        *store_queue.GROUPS,
        *store_space.GROUPS,
        *dbos_ratio.GROUPS,
    }

    assert ours <= set(GROUPS)


@pytest.mark.parametrize("one_type", [False, True])
async def test_sleepers_written_in_bulk_can_be_woken_again_and_again(one_type: bool) -> None:
    who = Sleepers(30, one_type=one_type)
    with database(SQLITE) as place:
        async with world(place) as here:
            await put_to_sleep(here, who)
            for number in (7, 7, 29, 0):
                await here.runtime.inline.dispatch(who.stimulus(number))

            woken = await here.runtime.read(who.identity(7))
            asleep = await here.runtime.read(who.identity(8))

            assert woken.status is asleep.status is Status.SUSPENDED
            assert (await here.runtime.row(who.identity(7))).version == 3
            assert [mark.payload for mark in woken.bookmarks] == [{"event_name": who.event(7)}]
            assert [mark.payload for mark in asleep.bookmarks] == [{"event_name": who.event(8)}]


def test_the_best_turn_counts_and_the_middle_of_shared_ones() -> None:
    turns = [
        Sample(10, 2.0, cpu=4.0, ratio=3.0),
        Sample(30, 3.0, cpu=3.0, ratio=1.0),
        Sample(8, 1.0, cpu=9.0, ratio=9.0),
    ]

    assert best_rate(turns) == 10.0
    assert least_cpu(turns) == turns[1]
    assert middle_ratio(turns) == 3.0
    assert rounds_of(25) == 5
    assert rounds_of(1) == 3


async def test_a_turn_keeps_so_many_in_flight() -> None:
    seen: set[int] = set()

    async def work(which: int) -> None:
        seen.add(which)
        await asyncio.sleep(0)

    with database(SQLITE) as place:
        async with world(place) as here:
            sample = await in_flight(work, 3, here.processor, seconds=0.001)()

    assert sample.done >= 3
    assert seen == {0, 1, 2}


async def test_a_shared_turn_gives_the_ratio_of_both_sides() -> None:
    done: list[int] = []

    async def work(which: int) -> None:
        done.append(which)

    async def bare() -> float:
        return 1e9

    sample = await in_pairs(work, bare, seconds=0.001)()

    assert sample.done == len(done)
    assert 0 < sample.ratio < 1e-6
