"""Complete scenario: design a workflow, publish, run, complete a task, repair, compare versions, time travel."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer


def test_from_an_empty_canvas_to_a_repaired_instance(studio: Studio) -> None:
    page, designer = studio.page, Designer(studio.page)
    _draw(page, designer)
    _publish(page)
    _run(page, "2000")
    expect(page.get_by_text("Waiting for")).to_be_visible()

    _answer(studio)
    _repair(page)
    _travel(page)

    studio.open("/definitions/refund")
    designer.card("Decision").click()
    designer.code("Condition", "amount > 5000")
    designer.saved()
    studio.open("/definitions/refund/versions")
    changes = page.get_by_role("region", name="Changes")
    expect(changes.get_by_text("amount > 1000")).to_be_visible()
    expect(changes.get_by_text("amount > 5000")).to_be_visible()


def _draw(page: Page, designer: Designer) -> None:
    page.get_by_role("button", name="New definition").first.click()
    page.get_by_role("dialog").get_by_label("Name").fill("Refund")
    page.keyboard.press("Enter")
    expect(designer.canvas).to_be_visible()
    designer.declare("Inputs", "amount", "integer")
    designer.declare("Variables", "parts", "integer", "0")
    designer.declare("Variables", "share", "integer", "0")

    designer.drag("Decision", 300, 120)
    designer.card("Decision").click()
    designer.code("Condition", "amount > 1000")
    designer.after("Add after True", "Human task")
    designer.inspector.get_by_label("Title", exact=True).fill("Approve the refund")
    designer.next("Human task", "Set variable")
    designer.inspector.get_by_role("combobox", name="Variable", exact=True).select_option("share")
    designer.code("Value", "amount // parts")
    designer.saved()

    # Undo and redo restore the same document.
    page.locator(".react-flow__pane").click(position={"x": 30, "y": 30})
    designer.card("Set variable").click()
    page.keyboard.press("Delete")
    expect(designer.card("Set variable")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(designer.card("Set variable")).to_be_visible()
    designer.saved()


def _publish(page: Page) -> None:
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def _run(page: Page, amount: str) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Runs v1")).to_be_visible()
    dialog.get_by_label("Amount").fill(amount)
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Refund", level=1)).to_be_visible()


def _answer(studio: Studio) -> None:
    page = studio.page
    page.get_by_role("link", name="Open task").click()
    expect(page.get_by_role("heading", name="Approve the refund")).to_be_visible()
    page.get_by_label("Answer").fill('{"yes": true}')
    page.get_by_role("button", name="Complete", exact=True).click()
    expect(page.get_by_text("Completed “Approve the refund”")).to_be_visible()
    page.go_back()


def _repair(page: Page) -> None:
    """Repairs a division by zero: change the variable, then retry."""
    panel = page.get_by_role("tabpanel")
    expect(page.locator("header").get_by_text("Faulted")).to_be_visible()
    page.get_by_role("tab", name="Incidents").click()
    expect(panel.get_by_text("by zero")).to_be_visible()
    page.get_by_role("tab", name="Variables").click()
    panel.get_by_role("button", name="Change parts").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Value").fill("4")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.locator("header").get_by_role("button", name="Retry").click()
    dialog.get_by_label("Reason").fill("there are four")
    dialog.get_by_role("button", name="Retry").click()
    expect(page.locator("header").get_by_text("Finished")).to_be_visible()


def _travel(page: Page) -> None:
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_text("500").first).to_be_visible()
    moment = page.get_by_role("slider", name="Journal position")
    moment.focus()
    moment.press("Home")
    expect(page.get_by_text("Viewing the past")).to_be_visible()
    expect(page.locator(".stage [data-status]")).to_have_count(0)
    moment.press("End")
    expect(page.locator(".stage [data-status=completed]").first).to_be_visible()
