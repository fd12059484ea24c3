"""A process whose event loop stands still ends, also inside a native call that holds the interpreter."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from datetime import timedelta

import pytest

from holdfast.engine.loop_watchdog import EXIT_CODE, watched_loop

PROGRAM = """
import asyncio
from datetime import timedelta
from holdfast.engine.loop_watchdog import watched_loop

async def main():
    async with watched_loop(timedelta(seconds={limit})):
        await asyncio.sleep(0)
        {body}
    print("ended well")

asyncio.run(main())
"""
NATIVE = "('a' * 5_000_000).rfind('a' * 1_000_000 + 'b' + 'a' * 1_000_000)  # holds the interpreter"


def run(limit: float, body: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", PROGRAM.format(limit=limit, body=body)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("body", [NATIVE, "while True: pass"], ids=["native", "python"])
def test_a_loop_that_stands_still_ends_the_process_with_its_stacks(body: str) -> None:
    done = run(0.3, body)
    assert done.returncode == EXIT_CODE
    assert "Timeout" in done.stderr
    assert "in main" in done.stderr
    assert "ended well" not in done.stdout


def test_a_loop_that_turns_is_left_alone() -> None:
    done = run(0.5, "[await asyncio.sleep(0.1) for _ in range(10)]")
    assert (done.returncode, done.stdout.strip()) == (0, "ended well")


async def test_without_a_limit_there_is_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda *args, **named: calls.append(args))
    async with watched_loop(timedelta(0)):
        pass
    assert calls == []
