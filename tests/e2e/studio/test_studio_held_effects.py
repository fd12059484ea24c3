"""Held effects: an effect lost with its process is reported on the instance page and run again by an operator."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.server import StudioServer, served

PAYMENTS = """
import asyncio
from pathlib import Path
from holdfast import OnLost, activity, workflow

@activity(on_lost=OnLost.HOLD)
async def pay() -> str:
    if Path("tried").exists():
        return "paid"
    Path("tried").touch()
    print("begun", flush=True)
    await asyncio.Event().wait()

@workflow
async def settle() -> str:
    return await pay()
"""


def crash(folder: Path) -> None:
    """Kills a process while it runs the payment effect."""
    command = [sys.executable, "-m", "holdfast.cli", "run", "held_payments.py:settle"]
    process = subprocess.Popen(
        [*command, "--store", f"sqlite:///{folder}/studio.db"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert "begun\n" in iter(process.stdout.readline, "")
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def crashed(browser: Browser, tmp_path: Path) -> Iterator[StudioServer]:
    (tmp_path / "held_payments.py").write_text(PAYMENTS, encoding="utf-8")
    crash(tmp_path)
    with served(tmp_path, "--activities", "held_payments", HOLDFAST_NODE_SWEEP="PT0.2S") as server:
        yield server


def test_what_is_held_is_run_again_with_a_reason(context: BrowserContext, crashed: StudioServer) -> None:
    (instance,) = crashed.call("GET", "/api/instances")["items"]
    studio = Studio(context.new_page(), crashed.url)
    studio.open(f"/instances/{instance['id']}?tab=incidents")
    studio.sign_in()
    page, panel = studio.page, studio.page.get_by_role("tabpanel")
    # The process counts as alive until its heartbeat times out. Then the page shows the incident by itself.
    expect(panel.get_by_text("the outcome is unknown")).to_be_visible()
    expect(panel.get_by_role("button", name="Run again")).to_be_visible()
    header = page.locator("header")
    expect(header.get_by_role("button", name="Cancel")).to_be_visible()
    expect(header.get_by_role("button", name="Retry")).to_have_count(0)

    header.get_by_role("button", name="Run again").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("the bank has no trace")
    dialog.get_by_role("button", name="Run again").click()

    expect(dialog).to_have_count(0)
    expect(header.get_by_text("Finished")).to_be_visible()
    expect(panel.get_by_text("Closed")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)
    page.get_by_role("tab", name="Journal").click()
    expect(panel.get_by_text("the bank has no trace")).to_be_visible()
    assert studio.errors == []
