"""The pool of child processes: answers, limits, deaths, queues."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.execution import suspension
from holdfast.expressions.isolation import children as module
from holdfast.expressions.isolation.children import Children
from holdfast.expressions.isolation.connection import Connection
from holdfast.expressions.isolation.requests import Answer, CheckLiquid, RunJavaScript, Verdict

AROUND = b"(function (given, source, tools) { return String(eval(source)); })"
ENDLESS = b"Array.prototype.reverse.call({length: 2 ** 53 - 1})"


def program(source: bytes, seconds: float = 0.05) -> RunJavaScript:
    return RunJavaScript(AROUND, b"{}", source, seconds, 16 << 20, 256 << 10)


@pytest.fixture
def pool() -> Iterator[Children]:
    made = Children(size=1)
    yield made
    made.close()


def test_a_request_is_answered(pool: Children) -> None:
    answer = pool.ask(program(b"6 * 7"))
    assert (answer.verdict, answer.text) == (Verdict.VALUE, b"42")


def test_a_native_call_without_end_is_answered_with_a_limit_and_the_next_request_gets_another_child(
    pool: Children,
) -> None:
    answer = pool.ask(program(ENDLESS))
    assert answer.verdict is Verdict.LIMIT
    assert "50 ms of processor time" in answer.message
    assert pool.ask(program(b"1 + 1")).text == b"2"


def test_a_child_that_died_while_idle_is_replaced(pool: Children) -> None:
    assert pool.ask(program(b"1")).text == b"1"
    assert pool._zygote is not None
    pool._zygote.end(pool._idle[0].number)
    while module._is_alive(pool._idle[0]):
        continue
    assert pool.ask(program(b"2")).text == b"2"


def test_a_zygote_that_died_is_replaced(pool: Children) -> None:
    assert pool.ask(program(b"1")).text == b"1"
    assert pool._zygote is not None
    pool._zygote._process.kill()
    pool._zygote._process.wait()
    pool._end(pool._idle.popleft())
    assert pool.ask(program(b"2")).text == b"2"


def test_a_closed_pool_starts_again(pool: Children) -> None:
    pool.ask(program(b"1"))
    pool.close()
    assert pool.ask(program(b"2")).text == b"2"


def test_children_end_with_their_pool(pool: Children) -> None:
    pool.ask(program(b"1"))
    assert pool._zygote is not None
    process = pool._zygote._process
    pool.close()
    assert process.returncode is not None


def test_large_values_cross(pool: Children) -> None:
    request = RunJavaScript(b"(function (given) { return given; })", b"x" * 3_000_000, b"", 1.0, 64 << 20, 256 << 10)
    assert len(pool.ask(request).text) == 3_000_000


def test_requests_above_the_limit_are_refused(pool: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRAME_MAX", 10)
    assert pool.ask(CheckLiquid(b"a" * 100, 1.0)).verdict is Verdict.LIMIT


def test_threads_share_the_children(pool: Children) -> None:
    found: list[Answer] = []
    threads = [threading.Thread(target=lambda: found.append(pool.ask(program(b"7")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.text for answer in found] == [b"7"] * 8


async def test_many_requests_wait_for_one_child_without_blocking_the_loop(pool: Children) -> None:
    asked = [suspension.run(pool.ask, program(b"%d" % number)) for number in range(30)]
    bombs = [suspension.run(pool.ask, program(ENDLESS)) for _ in range(3)]
    found = await asyncio.gather(*bombs, *asked)
    assert [answer.verdict for answer in found[:3]] == [Verdict.LIMIT] * 3
    assert [answer.text for answer in found[3:]] == [b"%d" % number for number in range(30)]


async def test_a_caller_that_gives_up_ends_its_child_only(pool: Children) -> None:
    running = asyncio.ensure_future(suspension.run(pool.ask, program(ENDLESS, 30.0)))
    waiting = asyncio.ensure_future(suspension.run(pool.ask, program(b"1")))
    next_one = asyncio.ensure_future(suspension.run(pool.ask, program(b"2")))
    await asyncio.sleep(0)
    waiting.cancel()
    running.cancel()
    await asyncio.wait([running, waiting])
    assert (await next_one).text == b"2"
    assert pool._count == 1


async def test_the_queue_is_limited(pool: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUEUE_MAX", 2)
    asked = [asyncio.ensure_future(suspension.run(pool.ask, program(ENDLESS))) for _ in range(5)]
    verdicts = [(await one).message for one in asked]
    assert sum("too many evaluations" in message for message in verdicts) == 2


async def test_one_turn_of_the_loop_is_blocked_for_a_limited_time(
    pool: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[float] = []
    monkeypatch.setattr(Connection, "wait", lambda self, seconds: allowed.append(seconds))
    pool._turn_left = 0.0

    async def answered(connection: Any, seconds: float) -> None:
        return None

    monkeypatch.setattr(module, "_answered", answered)
    await suspension.run(pool.ask, program(b"1"))
    assert allowed == [0.0]


def test_a_fork_has_a_pool_of_its_own(pool: Children) -> None:
    pool.ask(program(b"1"))
    ours = pool._zygote
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, b"none" if pool._zygote is None and not pool._idle else b"some")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 10) == b"none"
    assert pool._zygote is ours
    assert pool.ask(program(b"2")).text == b"2"


def test_a_child_has_no_environment_of_its_parent(pool: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_ADMIN_PASSWORD", "secret")
    pool.ask(program(b"1"))
    assert pool._zygote is not None
    environment = Path(f"/proc/{pool._zygote._process.pid}/environ").read_bytes()
    assert b"HOLDFAST" not in environment
