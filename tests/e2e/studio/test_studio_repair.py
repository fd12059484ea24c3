"""Repair of instances: tasks, incidents, retry, alterations, time travel."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import sequence
from tests.support.studio.server import StudioServer


def test_a_task_is_claimed_and_completed_and_its_instance_goes_on(studio: Studio, seeded: dict[str, str]) -> None:
    watching = studio.page.context.new_page()
    watching.goto(f"{studio.url}/instances/{seeded['waiting']}")
    expect(watching.get_by_text("Waiting for")).to_be_visible()

    studio.open("/tasks")
    # Other tasks may come before it in the list.
    studio.page.get_by_role("button", name="Approve 2400 € for Northwind").click()
    expect(studio.page.get_by_role("heading", name="Approve 2400 € for Northwind")).to_be_visible()
    studio.page.get_by_role("button", name="Claim").click()
    expect(studio.page.get_by_text("Claimed by")).to_be_visible()
    studio.page.get_by_label("Approve it").check()
    studio.page.get_by_label("Reason").fill("It is on the list")
    studio.page.get_by_role("button", name="Complete", exact=True).click()

    # The other page updates live.
    expect(watching.locator("header").get_by_text("Finished")).to_be_visible()
    studio.page.get_by_role("button", name="Completed", exact=True).click()
    expect(studio.page.get_by_text("It is on the list")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_a_fault_is_read_its_cause_changed_and_retried(studio: Studio, server: StudioServer) -> None:
    broken = server.execute("shipment", {"parcels": 12, "vans": 0})["instance_id"]
    studio.open(f"/instances/{broken}")
    panel = studio.page.get_by_role("tabpanel")
    expect(panel.get_by_text("division")).to_be_visible()

    studio.page.get_by_role("tab", name="Variables").click()
    panel.get_by_role("button", name="Change free").click()
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("Value").fill("4")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    studio.page.get_by_role("tab", name="Incidents").click()
    panel.get_by_role("button", name="Retry").click()
    expect(dialog.get_by_text("parcels // free")).to_be_visible()
    dialog.get_by_label("Reason").fill("no van was entered")
    dialog.get_by_role("button", name="Retry").click()

    expect(studio.page.locator("header").get_by_text("Finished")).to_be_visible()
    studio.page.get_by_role("tab", name="Journal").click()
    expect(panel.get_by_text("no van was entered")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_many_are_altered_after_a_dry_run(studio: Studio, server: StudioServer) -> None:
    waiting = server.execute("approval", {"amount": 6000})["instance_id"]
    studio.open(f"/alterations?ids={waiting}")
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("Variable").fill("fee")
    dialog.get_by_label("Value").fill("77")
    dialog.get_by_label("Reason").fill("the fee was forgotten")
    dialog.get_by_role("button", name="Dry run").click()
    expect(dialog.get_by_text("applies 1")).to_be_visible()
    assert server.call("GET", f"/api/instances/{waiting}")["state"]["variables"]["fee"] == 0
    dialog.get_by_role("button", name="Alter 1 instance").click()

    plan = studio.page.get_by_role("row").filter(has_text="the fee was forgotten")
    expect(plan.get_by_text("1 / 1")).to_be_visible()
    assert server.call("GET", f"/api/instances/{waiting}")["state"]["variables"]["fee"] == 77


@pytest.mark.usefixtures("seeded")
def test_time_travel_shows_what_was_so_then(studio: Studio, server: StudioServer) -> None:
    done = server.execute("approval", {"amount": 700})["instance_id"]
    studio.open(f"/instances/{done}?tab=variables")
    panel = studio.page.get_by_role("tabpanel")
    fee = panel.locator("dl").first.locator("dd").last
    expect(fee).to_have_text("7")

    moment = studio.page.get_by_role("slider", name="Journal position")
    expect(moment).to_be_enabled()  # The journal is loaded.
    moment.focus()
    moment.press("Home")

    expect(studio.page.get_by_text("Viewing the past")).to_be_visible()
    expect(panel.locator("dl").first).to_contain_text("0")
    studio.page.get_by_role("button", name="Back to now").click()
    expect(studio.page.get_by_text("Viewing the past")).to_have_count(0)
    studio.page.get_by_role("button", name="Timeline").click()
    expect(studio.page.get_by_role("region", name="Timeline").get_by_role("row")).not_to_have_count(1)


@pytest.mark.usefixtures("seeded")
def test_the_journal_says_why(studio: Studio, server: StudioServer) -> None:
    done = server.execute("approval", {"amount": 700})["instance_id"]
    studio.open(f"/instances/{done}?tab=journal")

    expect(studio.page.get_by_text("because amount = 700")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_a_variable_is_changed_while_the_instance_waits(studio: Studio, server: StudioServer) -> None:
    waiting = server.execute("approval", {"amount": 5000})["instance_id"]
    studio.open(f"/instances/{waiting}?tab=variables")
    studio.page.get_by_role("button", name="Change fee").click()
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("Value").fill("99")
    with studio.page.expect_response(lambda response: response.request.method in {"PATCH", "POST"}) as answered:
        dialog.get_by_role("button", name="Save").click()

    assert answered.value.ok
    expect(studio.page.get_by_role("tabpanel").get_by_text("99", exact=True).first).to_be_visible()
    assert server.call("GET", f"/api/instances/{waiting}")["state"]["variables"]["fee"] == 99


def test_a_definition_is_corrected_and_its_instance_goes_on_with_it(studio: Studio, server: StudioServer) -> None:
    call = {"id": "call", "type": "SendHttpRequest", "name": "Call", "inputs": {"url": "http://127.0.0.1:1/old"}}
    server.publish(sequence("corrected", call, variables=[{"name": "path", "default": "new"}]))
    broken = server.execute("corrected")["instance_id"]
    call["inputs"] = {"url": {"$python": "'http://127.0.0.1:1/' + path"}}
    server.publish_again(sequence("corrected", call, variables=[{"name": "path", "default": "new"}]))
    page = studio.page
    dialog = page.get_by_role("dialog")

    studio.open(f"/alterations?ids={broken}")
    dialog.get_by_label("Change", exact=True).select_option("migrate")
    dialog.get_by_label("Version").select_option("v2 (published)")
    dialog.get_by_label("Reason").fill("the path has moved")
    dialog.get_by_role("button", name="Dry run").click()
    dialog.get_by_role("button", name="Alter 1 instance").click()
    expect(page.get_by_role("row").filter(has_text="the path has moved").get_by_text("1 / 1")).to_be_visible()

    # An effect keeps its recorded inputs after a change of the definition, unless they are re-evaluated.
    page.get_by_role("button", name="Open instance").click()
    page.locator("header").get_by_role("button", name="Retry").click()
    inputs = dialog.get_by_label("Inputs (JSON)")
    expect(inputs).to_have_value(re.compile("/old"))
    dialog.get_by_role("button", name="Re-evaluate inputs").click()
    expect(inputs).to_have_value(re.compile("/new"))
    dialog.get_by_role("button", name="Retry").click()
    expect(dialog).to_have_count(0)

    # The request to this machine is still refused. The open incident is listed above the closed one.
    told = page.get_by_role("tabpanel").locator("article")
    expect(told).to_have_count(2)
    expect(told.first).to_contain_text("Open")
    expect(told.first).to_contain_text("/new")
