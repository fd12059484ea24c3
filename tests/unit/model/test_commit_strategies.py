"""Names of commit strategies, their refusal and the period of `periodic`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.model.commit_strategies import (
    ACTIVITY_STRATEGIES,
    AROUND,
    WORKFLOW_STRATEGIES,
    known_names,
    period,
    refusal,
)


def test_each_known_name_is_accepted() -> None:
    names = known_names(["around_lines"])

    assert {*WORKFLOW_STRATEGIES, *ACTIVITY_STRATEGIES, "around_lines"} == set(names)
    assert set(AROUND) < set(names)
    assert [refusal(name, ["around_lines"]) for name in (*names, "periodic:PT5S")] == [None] * (len(names) + 1)


@pytest.mark.parametrize("name", ["often", "ActivityExecuted", "", "periodically"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    reason = refusal(name, ["around_lines"])

    assert reason is not None
    assert f"There is no commit strategy '{name}'." in reason
    assert "workflow_executing, workflow_executed, activity_executing, activity_executed, periodic" in reason
    assert "always, never, executing, executed, around_lines" in reason


@pytest.mark.parametrize("name", ["periodic:soon", "periodic:PT0S", "periodic:-PT1S"])
def test_a_period_is_a_duration_above_zero(name: str) -> None:
    assert "no valid period" in (refusal(name) or "")
    with pytest.raises(ValueError, match=r"\w"):
        period(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (None, None),
        ("always", None),
        ("periodic", timedelta(seconds=1)),
        ("periodic:PT5S", timedelta(seconds=5)),
        ("periodic:PT0.001S", timedelta(milliseconds=1)),
    ],
)
def test_the_period(name: str | None, expected: timedelta | None) -> None:
    assert period(name) == expected
