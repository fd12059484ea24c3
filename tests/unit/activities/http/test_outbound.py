"""Servers that mean no good: every request ends by its timeout and its size, and says why."""

from __future__ import annotations

import asyncio
import gzip
import re
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Runner, RunResult, Workflow
from holdfast.activities import FlowSendHttpRequest, SendHttpRequest
from tests.support.hostile_http import (
    OK,
    Talk,
    endless_body,
    no_http,
    redirect_loop,
    silent,
    slow_head,
    speaking,
    write,
)

SOON = timedelta(milliseconds=300)


async def slow_body(writer: asyncio.StreamWriter) -> None:
    await write(writer, OK + b"Content-Length: 1000000\r\n\r\n")
    while True:
        await write(writer, b"x")
        await asyncio.sleep(0.01)


async def endless_head(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 200 OK\r\n")
    while True:
        await write(writer, b"X-More: " + b"x" * 1_000 + b"\r\n")


async def packed_bomb(writer: asyncio.StreamWriter) -> None:
    body = gzip.compress(bytes(100_000_000))
    await write(writer, OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def odd_header(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 200 OK\r\nBad Name\x00: y\r\nContent-Length: 0\r\n\r\n")


async def short_body(writer: asyncio.StreamWriter) -> None:
    await write(writer, OK + b"Content-Length: 100\r\n\r\nonly this")


async def false_encoding(writer: asyncio.StreamWriter) -> None:
    await write(writer, OK + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot  gzip")


async def negative_length(writer: asyncio.StreamWriter) -> None:
    await write(writer, OK + b"Content-Length: -1\r\n\r\nx")


async def odd_location(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 302 Found\r\nLocation: http://[::bad/\r\nContent-Length: 0\r\n\r\n")


async def file_location(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture
def runner(make_engine: Any) -> Runner:
    found: Runner = make_engine(http_private_allowed="127.0.0.0/8").runner
    return found


async def asked(runner: Runner, talk: Talk, kind: Any = SendHttpRequest, **more: Any) -> RunResult:
    options = {"request_timeout": timedelta(seconds=30), "response_size_limit": 100_000, **more}
    async with asyncio.timeout(60), speaking(talk) as place:
        return await runner.run(Workflow(kind(url=place.url, **options), id="w"))


@pytest.mark.parametrize("talk", [silent, slow_head, slow_body])
async def test_who_does_not_get_on_is_left_when_the_time_is_over(runner: Runner, talk: Talk) -> None:
    fault = await asked(runner, talk, request_timeout=SOON)
    way = await asked(runner, talk, FlowSendHttpRequest, request_timeout=SOON)

    assert "took longer than 0:00:00.300000" in fault.incidents[0].message
    assert way.status == "finished"
    assert ("Timeout",) in [entry.data for entry in way.journal if entry.event == "completed"]


@pytest.mark.parametrize("talk", [endless_body, packed_bomb])
async def test_who_never_ends_is_left_at_the_limit(runner: Runner, talk: Talk) -> None:
    result = await asked(runner, talk)

    assert "larger than 100_000 bytes" in result.incidents[0].message


@pytest.mark.parametrize(
    "talk", [endless_head, no_http, odd_header, short_body, false_encoding, negative_length, file_location]
)
async def test_an_answer_that_is_none_is_told_with_what_was_wrong(runner: Runner, talk: Talk) -> None:
    fault = await asked(runner, talk)
    way = await asked(runner, talk, FlowSendHttpRequest)

    assert re.match(r"Failed to connect: GET http://127\.0\.0\.1:\d+: \S", fault.incidents[0].message)
    assert ("Failed to connect",) in [entry.data for entry in way.journal if entry.event == "completed"]


@pytest.mark.parametrize(
    ("talk", "words"), [(redirect_loop, "more than 10 redirects"), (odd_location, "http://[::bad/")]
)
async def test_a_way_that_leads_nowhere_is_a_fault(runner: Runner, talk: Talk, words: str) -> None:
    assert words in (await asked(runner, talk)).incidents[0].message
