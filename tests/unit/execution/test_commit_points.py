"""Commit points: which nodes of a plan a strategy marks, and the refusal of unknown names by the compiler."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Sequence, WriteLine
from holdfast.errors import InvalidDefinition, SettingsError
from holdfast.execution.plan import Plan
from holdfast.ports import Registration


def plan(engine: Holdfast, commit: str | None = None, own: str | None = None) -> Plan:
    return engine.plan(Workflow(Sequence(WriteLine("a", id="a", commit=own), id="all"), id="w", commit=commit))


def before(found: Plan) -> set[str]:
    return {node.key for node in found.nodes if node.commit_before}


@pytest.mark.parametrize(
    ("commit", "own", "commits", "marked"),
    [
        (None, None, False, set()),
        ("never", None, False, set()),
        ("workflow_executed", None, False, set()),
        ("workflow_executing", None, True, {"all"}),
        ("activity_executing", None, True, {"all", "a"}),
        ("activity_executing", "never", True, {"all"}),
        ("activity_executed", None, True, set()),
        (None, "executing", True, {"a"}),
        (None, "always", True, {"a"}),
        (None, "executed", True, set()),
        ("periodic", None, True, set()),
    ],
)
def test_the_points_of_each_strategy(
    make_engine: Any, commit: str | None, own: str | None, commits: bool, marked: set[str]
) -> None:
    found = plan(make_engine(), commit, own)

    assert found.commits is commits
    assert before(found) == marked
    assert found.commit_period_ns == (1_000_000_000 if commit == "periodic" else 0)


def test_the_default_applies_to_workflows_that_name_none(make_engine: Any) -> None:
    engine = make_engine(commit_strategy="executing")

    assert before(plan(engine)) == {"all", "a"}
    assert before(plan(engine, "never")) == set()
    assert before(plan(engine, None, "executed")) == {"all"}


def test_a_rule_of_a_plugin(make_engine: Any) -> None:
    class Lines:
        name = "lines"
        needs = ()

        def register(self, registration: Registration) -> None:
            registration.commit_strategy("lines", lambda activity: (activity.type == "WriteLine", False))

    engine = make_engine(plugins=[Lines()], commit_strategy="lines")

    assert before(plan(engine)) == {"a"}


@pytest.mark.parametrize(
    ("commit", "own", "path"), [("often", None, "/options/commit"), (None, "often", "activities/0/options/commit")]
)
def test_an_unknown_name_is_refused_with_its_place(
    make_engine: Any, commit: str | None, own: str | None, path: str
) -> None:
    with pytest.raises(InvalidDefinition, match=rf"{path}: There is no commit strategy 'often'\. Known: workflow_exec"):
        plan(make_engine(), commit, own)


def test_the_setting_refuses_unknown_names(make_engine: Any) -> None:
    with pytest.raises(SettingsError, match=r"commit_strategy='often'.*Known: workflow_executing"):
        make_engine(commit_strategy="often")
