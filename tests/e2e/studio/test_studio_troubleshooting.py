"""Troubleshooting: from a problem, an incident or a filter to the place where it is fixed."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer, at, chart, line, sequence
from tests.support.studio.server import StudioServer

BROKEN: dict[str, Any] = {
    "id": "share",
    "type": "SetVariable",
    "name": "Share",
    "inputs": {"variable": "each", "value": {"$python": "parcels // vans"}},
}
DECLARED: dict[str, Any] = {
    "inputs": [{"name": "parcels", "type": "integer"}, {"name": "vans", "type": "integer"}],
    "variables": [{"name": "each"}],
}


def test_a_problem_leads_into_the_field_that_it_is_about(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "nap", "type": "Delay", "name": "Nap", **at(0, 2400)}
    server.call(
        "POST",
        "/api/definitions",
        chart("lost", line("first", **at(0, 0)), wait, connections=[{"from": "first", "to": "nap"}]),
    )
    studio.open("/definitions/lost")
    designer = Designer(studio.page)
    expect(designer.canvas).to_be_visible()

    studio.page.get_by_role("button", name="Publish", exact=True).click()
    studio.page.get_by_role("dialog").get_by_role("button", name="Nap").click()

    expect(designer.card("Nap")).to_be_in_viewport()
    expect(designer.field("duration")).to_be_focused()


def test_an_incident_leads_to_the_activity_in_the_designer(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("vans", line("before"), BROKEN, **DECLARED))
    failed = server.execute("vans", {"parcels": 3, "vans": 0})["instance_id"]
    studio.open(f"/instances/{failed}")

    studio.page.get_by_role("link", name="Edit definition").click()

    expect(studio.page).to_have_title("Vans – Holdfast")
    expect(Designer(studio.page).inspector.get_by_label("Name", exact=True)).to_have_value("Share")


def test_what_failed_is_found_by_its_time_and_counted(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("tours", BROKEN, **DECLARED))
    for vans in (0, 1, 1):
        server.execute("tours", {"parcels": 3, "vans": vans})
    page = studio.page
    studio.open("/instances?definition_id=tours")
    statuses = page.get_by_role("group", name="Status")
    period = page.get_by_role("combobox", name="Period")

    expect(statuses.get_by_role("button", name="Faulted 1")).to_be_visible()
    expect(statuses.get_by_role("button", name="Finished 2")).to_be_visible()
    page.get_by_label("Time field").select_option("finished")
    period.select_option("today")  # The server has no counts for a period at hand, so none are shown.
    statuses.get_by_role("button", name="Faulted", exact=True).click()
    expect(studio.row("Tours")).to_have_count(1)

    period.select_option("between")
    page.get_by_label("To", exact=True).fill("2001-01-01T00:00")
    expect(page.get_by_text("No matches")).to_be_visible()
    page.reload()
    expect(page.get_by_label("To", exact=True)).to_have_value("2001-01-01T00:00")


def test_a_page_without_a_network_says_so_and_comes_back(studio: Studio) -> None:
    page = studio.page
    page.route("**/api/instances**", lambda route: route.abort())
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.get_by_role("link", name="Instances").click()
    expect(page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()

    page.unroute_all()
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.get_by_role("heading", name="The server cannot be reached")).to_have_count(0)
