"""Narrow screens, and keyboard access to the overview."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import line, sequence
from tests.support.studio.server import StudioServer

TABLET = {"width": 768, "height": 1024}


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("path", ["/definitions", "/instances", "/schedules", "/users", "/roles"])
def test_no_column_is_cut_off_on_a_tablet(studio: Studio, path: str) -> None:
    studio.page.set_viewport_size(TABLET)  # type: ignore[arg-type] # a plain dict of the two sizes
    studio.open(path)
    frame = studio.page.locator(".table-frame")
    expect(frame.get_by_role("row").nth(1)).to_be_visible()

    seen, whole = frame.evaluate("frame => [frame.clientWidth, frame.scrollWidth]")

    assert whole <= seen, f"{whole - seen} pixels of the table are out of sight"


def test_the_designer_names_its_workflow_on_a_tablet(studio: Studio, server: StudioServer) -> None:
    server.publish({**sequence("named", line("first")), "name": "Order to parcel"})
    studio.page.set_viewport_size(TABLET)  # type: ignore[arg-type] # a plain dict of the two sizes
    studio.open("/definitions/named")
    title = studio.page.locator(".hf-bar .clip").first
    expect(title).to_have_text("Order to parcel")

    room = title.evaluate("title => title.clientWidth")

    assert room > 80, f"{room} pixels are left for the name"
    expect(studio.page.get_by_role("button", name="No problems")).to_be_visible()


def test_painted_cards_are_reached_by_keys(studio: Studio, server: StudioServer, axe: str) -> None:
    server.publish(sequence("big", *(line(f"line-{number:03}") for number in range(200))))
    studio.open("/definitions/big")
    picture = studio.page.get_by_role("listbox", name="Overview of")
    picture.focus()

    studio.page.keyboard.press("ArrowDown")
    studio.page.keyboard.press("ArrowDown")

    expect(picture.locator("[role=option]")).to_have_text("Line-001")
    studio.page.keyboard.press("End")
    expect(picture.locator("[role=option]")).to_have_text("Line-199")
    assert studio.serious(axe) == []
    studio.page.keyboard.press("Enter")
    expect(studio.page.locator(".react-flow__node .hf-title", has_text="Line-199")).to_be_visible()
