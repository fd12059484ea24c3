"""Focus and viewport of the designer after adding, opening and validating activities."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer, chart, line
from tests.support.studio.server import StudioServer


@pytest.fixture
def designer(studio: Studio) -> Designer:
    return Designer(studio.page)


def test_keys_work_in_a_container_that_was_opened_by_mouse(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    each = {"id": "each", "type": "ForEach", "inputs": {"items": {"$literal": [1]}}}
    server.call("POST", "/api/definitions", chart("inside", each, connections=[]))
    studio.open("/definitions/inside")
    designer.canvas.get_by_role("button", name="Body").click()
    expect(designer.crumbs).to_contain_text("For each")

    # The focused button was removed with its level.
    studio.page.keyboard.press("a")
    designer.pick("Write line")
    expect(designer.card("Write line")).to_be_in_viewport(ratio=1)
    studio.page.keyboard.press("Alt+ArrowUp")
    expect(designer.card("For each")).to_be_visible()
    designer.saved()


def test_what_is_added_comes_into_sight_and_has_the_keyboard(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    studio.page.emulate_media(reduced_motion="no-preference")  # The viewport is animated.
    server.call("POST", "/api/definitions", chart("tall", line("first"), connections=[]))
    studio.open("/definitions/tall")
    designer.card("First").click()
    for activity in ("Log", "Delay", "Correlate", "Event", "Set name", "Run task", "Read line", "Finish"):
        studio.page.keyboard.press("a")
        designer.pick(activity)
        expect(designer.card(activity)).to_be_in_viewport(ratio=1)
        expect(designer.card(activity)).to_be_focused()
    expect(designer.card("First")).not_to_be_in_viewport(ratio=1)

    # A field beside the canvas keeps the focus.
    search = designer.library.get_by_label("Search activities")
    search.fill("break")
    search.press("Enter")
    expect(designer.card("Break")).to_be_in_viewport(ratio=1)
    expect(search).to_be_focused()
    designer.saved()


def test_what_is_added_in_the_inspector_is_typed_at_once(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    fork = {"id": "fork", "type": "FlowFork"}
    server.call("POST", "/api/definitions", chart("typed", fork, connections=[]))
    studio.open("/definitions/typed")
    designer.section("Variables").get_by_role("button", name="Add").click()
    studio.page.keyboard.type("total")
    expect(designer.section("Variables").get_by_label("Name", exact=True)).to_have_value("total")

    designer.card("Fork").click()
    for name in ("Stock", "Credit"):
        designer.inspector.get_by_role("button", name="Add", exact=True).first.click()
        studio.page.keyboard.type(name)
    expect(designer.canvas.get_by_role("button", name="Add after Credit")).to_be_visible()
    designer.saved()
    document = server.call("GET", "/api/definitions/typed")["document"]
    assert document["root"]["activities"][0]["inputs"]["branches"] == ["Stock", "Credit"]
    assert [one["name"] for one in document["variables"]] == ["total"]


def test_publishing_names_what_stands_in_its_way(studio: Studio, designer: Designer, server: StudioServer) -> None:
    server.call("POST", "/api/definitions", chart("held", line("one"), {"id": "rest", "type": "Delay"}, connections=[]))
    studio.open("/definitions/held")
    expect(studio.page.locator(".hf-problem-count")).to_contain_text("1 problem")
    studio.page.get_by_role("button", name="Publish", exact=True).click()
    dialog = studio.page.get_by_role("dialog")
    expect(dialog.get_by_text("1 problem prevents publishing.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Publish")).to_be_disabled()

    dialog.get_by_role("button").filter(has_text="duration").click()
    expect(dialog).to_be_hidden()
    expect(designer.card("Delay").locator(".hf-card.selected")).to_be_visible()
    designer.section("Inputs").get_by_label("Seconds").fill("5")
    designer.saved()
    studio.page.get_by_role("button", name="Publish", exact=True).click()
    dialog.get_by_role("button", name="Publish").click()
    expect(studio.page.get_by_text("Published version 1", exact=True)).to_be_visible()
