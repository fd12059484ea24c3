from __future__ import annotations

import asyncio
import sys

import pytest

from holdfast.cli.loop import run_loop


async def kind_of_loop() -> str:
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_uvloop_where_it_is_installed() -> None:
    assert run_loop(kind_of_loop()) == "uvloop"


def test_plain_asyncio_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)

    assert run_loop(kind_of_loop()) == "asyncio"
