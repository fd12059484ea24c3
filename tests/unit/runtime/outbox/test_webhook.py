"""Webhooks of others: a delivery ends when its time is over, whatever they answer, and only a 2xx is one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError

import pytest

from holdfast.ports import LifecycleEvent
from holdfast.runtime.outbox.webhook import Webhook
from tests.support.hostile_http import Talk, endless_body, no_http, redirect_loop, silent, slow_head, speaking

EVENT = LifecycleEvent(
    id="i.1.0",
    event="instance.started",
    at=datetime(2026, 1, 1, tzinfo=UTC),
    tenant="",
    instance_id="i",
    definition_id="d",
    definition_version=1,
    status="running",
    version=1,
)
SOON = timedelta(milliseconds=300)


@pytest.mark.parametrize("talk", [silent, slow_head])
async def test_who_does_not_get_on_is_left_when_the_time_is_over(talk: Talk) -> None:
    async with asyncio.timeout(30), speaking(talk) as place:
        with pytest.raises(TimeoutError, match="no answer within 0:00:00"):
            await Webhook(place.url, timeout=SOON).deliver(EVENT)
        await asyncio.get_running_loop().shutdown_default_executor()  # Ends only if no thread is held.


async def test_an_answer_that_never_ends_is_one_and_is_not_read() -> None:
    async with asyncio.timeout(30), speaking(endless_body) as place:
        await Webhook(place.url).deliver(EVENT)

    assert place.asked == [b"POST / HTTP/1.1"]


async def test_a_redirect_is_no_delivery() -> None:
    async with asyncio.timeout(30), speaking(redirect_loop) as place:
        with pytest.raises(HTTPError, match="302"):
            await Webhook(place.url).deliver(EVENT)

    assert place.asked == [b"POST / HTTP/1.1"]


async def test_what_is_no_http_is_no_delivery() -> None:
    async with asyncio.timeout(30), speaking(no_http) as place:
        with pytest.raises(Exception, match="something else"):
            await Webhook(place.url).deliver(EVENT)
