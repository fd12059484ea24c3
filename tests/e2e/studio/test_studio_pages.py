"""Every page renders in light and dark theme, without serious accessibility problems."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.server import StudioServer

PAGES = {
    "/definitions": "Definitions",
    "/definitions/approval/versions": "Versions of Invoice approval",
    "/instances": "Instances",
    "/tasks": "Tasks",
    "/dashboard": "Dashboard",
    "/schedules": "Schedules",
    "/triggers": "Triggers",
    "/dead-letters": "Dead letters",
    "/alterations": "Alterations",
    "/nodes": "Nodes",
    "/users": "Users",
    "/roles": "Roles",
    "/api-keys": "API keys",
    "/settings": "Settings",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_stumbles_on_any_page(studio: Studio, seeded: dict[str, str], axe: str, theme: str) -> None:
    studio.page.add_init_script(f"localStorage.setItem('holdfast.theme', '{theme}')")
    pages = {**PAGES, f"/instances/{seeded['waiting']}": "Invoice approval", "/definitions/approval": None}
    found = []
    for path, heading in pages.items():
        studio.open(path)
        if heading is not None:
            studio.heading(heading)
        studio.page.wait_for_load_state("networkidle")
        found += [f"{path}: {one}" for one in studio.serious(axe)]

    assert found == []


def test_what_is_asked_in_a_dialog_can_be_read_by_all(studio: Studio, seeded: dict[str, str], axe: str) -> None:
    studio.open("/definitions")
    studio.choose("Invoice approval", "Run")
    expect(studio.page.get_by_role("dialog")).to_be_visible()

    assert studio.serious(axe) == []


def test_a_tablet_shows_it_too(studio: Studio, seeded: dict[str, str]) -> None:
    studio.page.set_viewport_size({"width": 820, "height": 1180})
    for path in ("/definitions", "/instances", f"/instances/{seeded['waiting']}"):
        studio.open(path)
        expect(studio.page.locator("h1")).to_be_visible()
        assert studio.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_address_that_leads_nowhere_says_so(studio: Studio) -> None:
    studio.open("/no/such/page")
    expect(studio.page.get_by_role("heading", name="Page not found")).to_be_visible()
    studio.open("/instances/nobody")
    expect(studio.page.get_by_role("alert")).to_be_visible()


def test_people_and_keys_are_managed(studio: Studio) -> None:
    studio.open("/users")
    studio.page.get_by_role("button", name="New user").click()
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("User").fill("uma")
    dialog.get_by_label("Password").fill("a-good-long-one-5")
    dialog.get_by_label("designer").check()
    dialog.get_by_role("button", name="Save").click()
    expect(studio.row("uma").get_by_text("designer")).to_be_visible()

    studio.open("/api-keys")
    studio.page.get_by_role("button", name="New key").click()
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("the shop")
    dialog.get_by_label("operator").check()
    dialog.get_by_role("button", name="Create key").click()
    expect(studio.page.get_by_text("Copy the key now")).to_be_visible()
    studio.page.get_by_role("button", name="Done").click()
    expect(studio.row("the shop")).to_be_visible()


def test_a_schedule_is_paused_and_run_now(studio: Studio, server: StudioServer, seeded: dict[str, str]) -> None:
    studio.open("/schedules")
    studio.choose("nightly", "Pause")
    expect(studio.row("nightly").get_by_text("Paused")).to_be_visible()
    studio.choose("nightly", "Resume")
    expect(studio.row("nightly").get_by_text("Active")).to_be_visible()
    studio.choose("nightly", "Next occurrences")
    expect(studio.page.get_by_role("dialog").get_by_role("listitem")).to_have_count(8)


def test_the_first_steps_are_shown_once(studio: Studio) -> None:
    studio.page.add_init_script(
        "if (!sessionStorage.seen) localStorage.removeItem('holdfast.tour'); sessionStorage.seen = 1"
    )
    studio.open("/definitions")
    tour = studio.page.get_by_role("region", name="Getting started")
    expect(tour.get_by_text("1 · Design")).to_be_visible()
    studio.page.get_by_role("link", name="Dashboard").click()
    expect(tour).to_have_count(0)
    studio.page.get_by_role("link", name="Definitions").click()
    tour.get_by_role("button", name="Next").click()
    tour.get_by_role("button", name="Next").click()
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    studio.page.reload()
    studio.heading("Instances")
    expect(tour).to_have_count(0)
