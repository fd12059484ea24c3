"""The parts of the benchmarks that decide and write; what they measure is never asserted."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks import holdfast_engine, naive, results
from benchmarks.figures import Effort, Figure, Group, UnknownFigure, chosen
from benchmarks.groups import GROUPS
from benchmarks.page import page
from benchmarks.rounds import repeated, run_rounds
from benchmarks.workloads import Workload, as_holdfast, flow20, foreach, seq10

COST = Figure("engine.cost", "what it costs", 0.9)
RATIO = Figure("engine.ratio", "theirs over ours", 12, at_least=True)
SHOWN = Figure("engine.cost.detail", "for the reader")


def measure(effort: Effort) -> dict[str, float]:
    return {"engine.cost": 0.5, "engine.ratio": 11.0}


GROUP = Group("engine", (COST, RATIO, SHOWN), measure)
OTHER = Group("store", (Figure("store.commits", "commits"),), measure)


def test_a_cost_is_met_from_below_and_a_ratio_from_above() -> None:
    assert COST.is_met(0.9)
    assert not COST.is_met(0.91)
    assert RATIO.is_met(12.0)
    assert not RATIO.is_met(11.9)
    assert SHOWN.is_met(1.0) is None


def test_all_groups_run_when_nothing_is_named() -> None:
    assert chosen([GROUP, OTHER], []) == [GROUP, OTHER]


@pytest.mark.parametrize("name", ["engine", "engine.cost", "engine.cost.detail", "engine.ratio"])
def test_a_figure_is_named_by_itself_its_group_or_a_beginning(name: str) -> None:
    assert chosen([GROUP, OTHER], [name]) == [GROUP]


def test_an_unknown_figure_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownFigure, match=r"store\.commits"):
        chosen([GROUP, OTHER], ["engine.costs"])


def test_a_group_names_each_figure_once() -> None:
    with pytest.raises(AssertionError, match="twice"):
        Group("twice", (COST, COST), measure)


def test_every_figure_of_the_issue_has_its_stable_name_and_goal() -> None:
    goals = {figure.name: figure.goal_text for group in GROUPS for figure in group.figures if figure.goal is not None}

    assert {name: goal for name, goal in goals.items() if name.startswith("engine.")} == {
        "engine.us_per_activity": "≤ 0.9",
        "engine.naive_ratio": "≥ 12",
        "engine.us_per_user_sync": "≤ 1.2",
        "engine.us_per_user_async": "≤ 1.5",
        "engine.us_per_effect_async": "≤ 15",
        "engine.us_per_effect_sync": "≤ 250",
        "engine.us_python_expression": "≤ 0.3",
        "engine.us_javascript_expression": "≤ 60",
        "engine.foreach_growth": "≤ 1.5",
        "engine.spiff_ratio": "≥ 150",
        "engine.import_ms": "≤ 150",
    }


def test_no_two_groups_share_a_figure() -> None:
    names = [figure.name for group in GROUPS for figure in group.figures]

    assert len(names) == len(set(names))


# -- the result file and the page --------------------------------------------------------------------------------------


def test_the_result_file_is_one_flat_object_of_figures_and_facts(tmp_path: Path) -> None:
    path = tmp_path / "results" / "latest.json"

    results.write(path, {"engine.cost": 0.123456, "engine.many": 123456.7}, results.meta(Effort(rounds=3)))

    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["engine.cost"] == 0.123
    assert written["engine.many"] == 123457
    assert written["meta.settings.rounds"] == 3
    assert {"meta.commit", "meta.time", "meta.machine", "meta.python", "meta.versions.holdfast"} <= set(written)
    assert not any(isinstance(value, dict | list) for value in written.values())


def test_the_table_says_what_is_met_what_is_not_and_what_was_not_measured() -> None:
    lines = results.table(GROUP.figures, {"engine.cost": 0.5, "engine.ratio": 11.0}).splitlines()

    assert [cell.strip() for cell in lines[1].split("|")] == ["engine.cost", "0.5", "≤ 0.9", "yes"]
    assert [cell.strip() for cell in lines[2].split("|")] == ["engine.ratio", "11", "≥ 12", "NO"]
    assert [cell.strip() for cell in lines[3].split("|")] == ["engine.cost.detail", "not measured", "", ""]


def test_the_page_shows_figures_by_group_and_where_they_come_from() -> None:
    written = page({"engine.cost": 0.5, "meta.python": "CPython 3.11"}, [GROUP])

    assert "| `engine.cost` | 0.5 | ≤ 0.9 | yes | what it costs |" in written
    assert "| `engine.ratio` | not measured | ≥ 12 |  | theirs over ours |" in written
    assert "| python | CPython 3.11 |" in written


def test_the_page_in_the_docs_is_that_of_the_latest_results(root: Path) -> None:
    assert (root / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page(results.read(results.LATEST))


# -- contenders --------------------------------------------------------------------------------------------------------


def test_contenders_take_turns() -> None:
    turns: list[str] = []

    best = run_rounds({name: repeated(partial(turns.append, name), times=1) for name in ("ours", "theirs")}, rounds=2)

    assert turns == ["ours", "ours", "theirs", "theirs"] * 2  # each turn warms up once
    assert set(best) == {"ours", "theirs"}


@pytest.mark.parametrize("load", [seq10(), flow20(), foreach(20)], ids=lambda load: load.name)
def test_the_naive_loop_computes_what_we_compute(load: Workload) -> None:
    live = holdfast_engine.bursts(holdfast_engine.engine(), as_holdfast(load))()
    run = asyncio.run(naive.Run(naive.built(load), load.variables).to_the_end())

    scope = live.root.scope
    assert {name: scope[slot] for name, slot in scope[1].names.items()} == run.variables
    assert live.sequence - 1 == load.activities == len(run.journal) // 2
    assert [str(line) for line in run.lines] == live.lines


def test_groups_that_are_measured_alone_leave_the_others_as_they_are() -> None:
    kept = {"engine.cost": 0.7, "engine.cost.detail": 2.0, "store.commits": 5, "meta.commit": "old"}

    found = results.merged(kept, [GROUP], {"engine.cost": 0.5, "engine.ratio": 11.0})

    assert found == {"store.commits": 5, "engine.cost": 0.5, "engine.ratio": 11.0, "meta.commit": "old"}
    assert results.stamps([GROUP]).keys() == {"meta.measured.engine"}
