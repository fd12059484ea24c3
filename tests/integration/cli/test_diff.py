"""`holdfast diff --tenant`: the definitions and instances of one tenant."""

from __future__ import annotations

import asyncio
from pathlib import Path

from click.testing import CliRunner

from holdfast import Holdfast, wait_for, workflow
from holdfast.cli.diff import diff
from holdfast.persistence import store_from_url

SOURCE = f"{__name__}:waits"


@workflow
async def waits(order: str) -> str:
    await wait_for("go")
    return order


async def _start(url: str, tenant: str) -> None:
    store = store_from_url(url)
    await store.open()
    async with Holdfast(entry_points=False).runtime_on(store, tenant=tenant) as runtime:
        await runtime.start(waits, {"order": "7"})
    await store.close()


async def test_it_compares_with_the_definitions_of_the_tenant(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    await _start(url, "acme")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(diff, [SOURCE, "--store", url, *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    assert await asyncio.to_thread(run) == "waits: not in the store yet\n"
    assert (await asyncio.to_thread(run, "--tenant", "acme")).startswith("waits: version 1 → the code\n")
    assert await asyncio.to_thread(run, "--tenant", "other") == "waits: not in the store yet for tenant 'other'\n"
