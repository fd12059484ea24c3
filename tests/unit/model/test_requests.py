"""Requests go over any wire, with what users put into them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from holdfast.model.catalog import Which
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
    decode_request,
    encode_request,
)

REQUESTS: list[DispatchRequest] = [
    DispatchDefinition(
        definition_id="order",
        version=Which.LATEST,
        input={"amount": Decimal("1.50"), "at": datetime(2026, 1, 2, tzinfo=UTC)},
        trigger_payload=(1, 2),
        properties={"shelf": {"row": 1}},
        delay=timedelta(seconds=3),
        priority=5,
        principal="ada",
    ),
    DispatchDefinition(definition_id="order", version=3),
    DispatchInstance(instance_id="i", input={"x": None}, bookmark_id="b1", idempotency_key="k"),
    DispatchTrigger(activity_type="Event", payload={"event_name": "go"}, input=7),
    DispatchResume(activity_type="Event", payload=timedelta(days=1), correlation_id="c"),
    DispatchStimulus(event_name="paid", payload=b"bytes", key=7, broadcast=True, queue="slow"),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda item: type(item).__name__)
def test_a_request_comes_back_as_it_was(request_: DispatchRequest) -> None:
    assert decode_request(encode_request(request_)) == request_


def test_an_answer_names_an_instance_wherever_it_stands() -> None:
    assert Dispatched(instance_ids=("a", "b")).instance_id == "a"
    assert Dispatched(existing=("c",)).instance_id == "c"
    assert Dispatched().instance_id is None
    assert (Dispatched(instance_ids=("a", "b")).count, Dispatched(existing=("c",)).started) == (2, False)
