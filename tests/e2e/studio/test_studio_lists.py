"""Definitions and instances in lists: import, labels, sorting, runs, versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.server import StudioServer


@pytest.fixture
def file(tmp_path: Path, document: dict[str, Any]) -> Path:
    path = tmp_path / "order.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_files_of_ours_and_of_elsa_are_imported(studio: Studio, file: Path, root: Path) -> None:
    studio.page.locator("input[type=file]").set_input_files([file, root / "examples/05_elsa.json"])

    result = studio.page.get_by_role("dialog", name="Imported")
    expect(result.get_by_role("link")).to_have_count(2)
    result.get_by_role("button", name="Close").last.click()
    expect(studio.row("Order").first).to_be_visible()


def test_a_file_that_is_none_says_why(studio: Studio, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    studio.page.locator("input[type=file]").set_input_files(broken)

    result = studio.page.get_by_role("dialog", name="Imported")
    expect(result.get_by_text("broken.json").first).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_search_labels_and_sorting_live_in_the_address(studio: Studio) -> None:
    studio.open("/definitions")
    studio.page.get_by_role("button", name="onboarding").first.click()
    expect(studio.row("Welcome a customer")).to_be_visible()
    expect(studio.row("Shipment")).to_have_count(0)
    studio.page.get_by_role("button", name="onboarding").first.click()

    studio.page.get_by_label("Search definitions").fill("invoice")
    expect(studio.row("Shipment")).to_have_count(0)
    studio.page.reload()
    expect(studio.page.get_by_label("Search definitions")).to_have_value("invoice")
    studio.page.get_by_label("Search definitions").fill("")

    studio.page.get_by_role("button", name="Name", exact=True).click()
    names = studio.page.locator("td a.name")
    expect(studio.row("Shipment")).to_be_visible()
    expect(studio.page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    shown = names.all_inner_texts()
    assert shown == sorted(shown, key=str.lower)


@pytest.mark.usefixtures("seeded")
def test_versions_are_compared_and_one_goes_back_after_a_question(studio: Studio) -> None:
    studio.open("/definitions/approval/versions")

    changes = studio.page.get_by_role("region", name="Changes")
    expect(changes.get_by_text("amount > 1000")).to_be_visible()
    expect(changes.get_by_text("amount > 2000")).to_be_visible()
    studio.page.get_by_role("button", name="Actions for version 1").click()
    studio.page.get_by_role("menuitem", name="Roll back to this version").click()
    question = studio.page.get_by_role("dialog", name="Roll back to version 1?")
    question.get_by_role("button", name="Roll back to this version").click()
    expect(studio.page.get_by_text("The versions are equivalent.")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_a_run_asks_for_the_inputs_and_says_which_version_runs(studio: Studio) -> None:
    studio.open("/definitions")
    studio.choose("Shipment", "Run")
    dialog = studio.page.get_by_role("dialog", name="Run Shipment")
    expect(dialog.get_by_text("Runs v1")).to_be_visible()
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(dialog.get_by_text("Required.").first).to_be_visible()

    dialog.get_by_label("Parcels").fill("9")
    dialog.get_by_label("Vans").fill("3")
    dialog.get_by_label("Correlation id").fill("tour-9")
    dialog.get_by_role("button", name="Run", exact=True).click()

    studio.heading("Shipment")
    expect(studio.page.get_by_text("Finished").first).to_be_visible()
    studio.page.get_by_role("tab", name="Variables").click()
    expect(studio.page.get_by_role("tabpanel").get_by_text("each").first).to_be_visible()


def test_instances_are_filtered_and_the_filter_is_kept(studio: Studio, seeded: dict[str, str]) -> None:
    studio.open("/instances")
    studio.page.get_by_role("button", name="Faulted").click()
    expect(studio.row(seeded["broken"])).to_be_visible()
    expect(studio.row(seeded["waiting"])).to_have_count(0)

    studio.page.get_by_role("button", name="Saved filters").click()
    studio.page.get_by_role("menuitem", name="Save this filter").click()
    studio.page.get_by_label("Filter name").fill("My faults")
    studio.page.get_by_role("button", name="Save", exact=True).click()
    studio.open("/instances")
    expect(studio.row(seeded["waiting"])).to_be_visible()
    studio.page.get_by_role("button", name="Saved filters").click()
    studio.page.get_by_role("menuitem", name="My faults", exact=True).click()
    expect(studio.row(seeded["waiting"])).to_have_count(0)


def test_many_are_canceled_at_once_with_a_reason(studio: Studio, server: StudioServer, seeded: dict[str, str]) -> None:
    made = [server.execute("welcome", {"customer": name})["instance_id"] for name in ("Alan", "Edsger")]
    studio.open("/instances")
    for id in made:
        studio.row(id).get_by_role("checkbox").check()
    studio.page.get_by_role("toolbar").get_by_role("button", name="Cancel").click()
    question = studio.page.get_by_role("dialog", name="Cancel 2 instances?")
    question.get_by_label("Reason").fill("wrong list")
    question.get_by_role("button", name="Cancel").click()

    for id in made:
        expect(studio.row(id).get_by_text("Canceled")).to_be_visible()
    entries = server.call("GET", f"/api/instances/{made[0]}/journal")["entries"]
    assert "wrong list" in json.dumps(entries)
