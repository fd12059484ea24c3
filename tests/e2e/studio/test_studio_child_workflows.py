"""Workflows that start other workflows: their inputs, and the links between the instances."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer, sequence
from tests.support.studio.server import StudioServer


def test_the_one_that_is_started_is_filled_in_by_its_own_fields(studio: Studio, server: StudioServer) -> None:
    inputs = [
        {"name": "weight", "type": "integer", "required": True, "display_name": "Weight"},
        {"name": "town", "type": "string", "required": True, "display_name": "Town"},
    ]
    wait = {"id": "packed", "type": "Event", "inputs": {"event_name": "packed"}}
    server.publish(sequence("parcel", wait, inputs=inputs))
    start = {"id": "pack", "type": "ExecuteWorkflow", "inputs": {"workflow": "parcel", "wait": True}}
    server.publish(sequence("order", start, inputs=[{"name": "where", "type": "string", "default": "Oslo"}]))
    page, designer = studio.page, Designer(studio.page)
    studio.open("/definitions/order")

    designer.card("Execute workflow").click()
    given = designer.inspector.get_by_role("group", name="Inputs of Parcel")
    expect(given.get_by_text("Required by Parcel.")).to_have_count(2)
    given.locator("[data-input=weight] input").fill("3")
    given.get_by_label("Town: kind of value").select_option("input")
    given.locator("[data-input=town] select:not(.hf-language)").select_option("where")
    expect(given.get_by_text("Required by Parcel.")).to_have_count(0)
    designer.saved()

    document = server.call("GET", "/api/definitions/order")["document"]
    assert document["root"]["activities"][0]["inputs"]["input"] == {"$python": '{"weight": 3, "town": where}'}
    server.call("POST", "/api/definitions/order/publish", {})
    order = server.execute("order")["instance_id"]

    studio.open(f"/instances/{order}")
    page.get_by_role("link", name="Open instance").click()
    studio.heading("Parcel")
    page.get_by_role("tab", name="Variables").click()
    expect(page.get_by_text('"Oslo"')).to_be_visible()
    page.get_by_role("link", name="Started by Order").click()
    studio.heading("Order")
    page.get_by_role("status").get_by_role("button", name="Execute workflow").click()
    expect(page.get_by_role("heading", name="Child instances")).to_be_visible()
    expect(page.get_by_role("tabpanel").get_by_role("link", name="Parcel")).to_be_visible()


def test_an_activity_leads_to_the_workflow_that_it_starts_or_is(studio: Studio, server: StudioServer) -> None:
    line = {"id": "say", "type": "WriteLine", "inputs": {"text": "weighed"}}
    server.publish({**sequence("scale", line), "name": "Weigh it", "options": {"usable_as_activity": True}})
    server.publish(
        sequence(
            "shop",
            {"id": "start", "type": "DispatchWorkflow", "inputs": {"workflow": "scale"}},
            {"id": "own", "type": "WeighIt"},
        )
    )
    page, designer = studio.page, Designer(studio.page)

    studio.open("/definitions/shop")
    designer.card("Dispatch workflow").click()
    designer.inspector.get_by_role("link", name="Open Weigh it").click()
    expect(page).to_have_url(re.compile("/definitions/scale$"))
    page.go_back()
    designer.card("Weigh it").click()
    designer.inspector.get_by_role("link", name="Weigh it").click()
    expect(page).to_have_url(re.compile("/definitions/scale$"))


def test_times_are_of_the_place_where_one_is(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("nap", {"id": "sleep", "type": "Delay", "inputs": {"duration": "PT1H"}}))
    instance = server.execute("nap")["instance_id"]
    (wait,) = server.call("GET", f"/api/instances/{instance}")["waits"]
    studio.open(f"/instances/{instance}")

    time = studio.page.get_by_role("status").locator("time")
    local = studio.page.evaluate(
        "at => new Date(at).toLocaleString(undefined, {dateStyle: 'medium', timeStyle: 'medium'})", wait["due"]
    )
    expect(time).to_have_text(local)
    expect(time).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.* UTC$"))
    expect(studio.page.get_by_role("tabpanel").get_by_text("Delay")).not_to_have_count(0)
    expect(studio.page.get_by_role("tabpanel").get_by_text("sleep")).to_have_count(0)
