"""Percentiles and time ranges of the statistics."""

from __future__ import annotations

import pytest

from holdfast.server.problems import Refusal
from holdfast.server.views.statistics import percentile, read_range


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([1.0], 0.99, 1.0),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0),
        (list(map(float, range(1, 101))), 0.95, 95.0),
    ],
)
def test_percentiles_are_values_that_occurred(values: list[float], share: float, expected: float | None) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize("text", ["", "x", "-1h", "91d", "1y"])
def test_a_range_has_its_limits(text: str) -> None:
    with pytest.raises(Refusal):
        read_range(text)
