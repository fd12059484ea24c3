"""Instance filters in Python: lists, single values, text and times."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.model.filter_match import matches
from holdfast.model.listing import InstanceFilter
from holdfast.testing.store_rows import AT, instance

HOUR = timedelta(hours=1)
ROW = instance(
    "order-1",
    status="finished",
    name="Order OF Ada",
    correlation_id="c-7",
    created=AT,
    updated=AT + HOUR,
    finished=AT + HOUR,
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"ids": ("order-1", "order-2")}, True),
        ({"ids": ("order-2",)}, False),
        ({"statuses": ("finished",), "correlation_ids": ("c-7",)}, True),
        ({"statuses": ("finished",), "correlation_ids": ("c-8",)}, False),
        ({"has_incidents": False}, True),
        ({"has_incidents": True}, False),
        ({"search": "of ada"}, False),
        ({"search": "ORDER-1"}, True),
        ({"search": "grace"}, False),
        ({"search": "RDE"}, True),
        ({"created_from": AT, "created_before": AT + HOUR}, True),
        ({"created_before": AT}, False),
        ({"finished_from": AT + HOUR}, True),
        ({"finished_before": AT + HOUR}, False),
    ],
)
def test_every_condition_must_hold(wanted: dict[str, Any], expected: bool) -> None:
    assert matches(ROW, InstanceFilter(**wanted)) is expected


def test_an_instance_that_has_not_ended_has_no_end_in_any_range() -> None:
    assert not matches(instance("i"), InstanceFilter(finished_from=AT))
    assert not matches(instance("i"), InstanceFilter(finished_before=AT + HOUR))
