"""The instance page: loops, values, related instances, source line, repair, fork."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.demo import FORMAT
from tests.support.studio.designer import Designer, line, sequence
from tests.support.studio.server import StudioServer, served

CODE = Path(__file__).parent / "fixtures" / "code"


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """A server that records history, with a workflow defined in Python."""
    folder = tmp_path_factory.mktemp("watching")
    path = os.pathsep.join([str(CODE), os.environ.get("PYTHONPATH", "")])
    with served(folder, "parcels:parcels", HOLDFAST_HISTORY="snapshots", PYTHONPATH=path) as server:
        yield server


def travel(page: Page, entries: int) -> None:
    """Moves to the given position of the journal."""
    moment = page.get_by_role("slider", name="Journal position")
    moment.focus()
    moment.press("Home")
    for _ in range(entries):
        moment.press("ArrowRight")


def test_each_iteration_of_a_loop_can_be_looked_at(studio: Studio, server: StudioServer) -> None:
    add = {
        "id": "add",
        "type": "SetVariable",
        "name": "Add",
        "inputs": {"variable": "sum", "value": {"$python": "sum + item"}},
    }
    loop = {"id": "loop", "type": "ForEach", "inputs": {"items": {"$literal": [3, 4, 5]}, "item": "item"}, "body": add}
    server.publish(sequence("loops", loop, variables=[{"name": "sum", "default": 0}]))
    studio.open(f"/instances/{server.execute('loops')['instance_id']}")
    page = studio.page
    panel = page.get_by_role("tabpanel")

    card = page.locator(".stage .react-flow__node").filter(has_text="Add").last
    expect(card.locator(".hf-count")).to_have_text("3")
    # The tooltip shows the last result.
    expect(card.locator("[data-status=completed]")).to_have_attribute("title", "→ 12")
    card.click()
    runs = panel.get_by_label("Executions")
    expect(runs.get_by_role("option")).to_have_count(3)
    inputs = panel.get_by_role("region", name="Inputs")
    runs.select_option("0")
    expect(inputs).to_contain_text('"value": 3')
    runs.select_option("1")
    expect(inputs).to_contain_text('"value": 7')

    page.get_by_role("tab", name="Variables").click()
    changes = panel.get_by_role("list").last.get_by_role("button")
    expect(changes).to_have_text(["sum = 3Add", "sum = 7Add", "sum = 12Add"])
    changes.nth(1).click()
    expect(page.get_by_text("Viewing the past")).to_be_visible()
    expect(panel.locator("dl").first).to_contain_text("7")


def test_parents_and_children_are_one_tree(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("leaf", line("one")))
    inner = {"id": "call", "type": "ExecuteWorkflow", "inputs": {"workflow": "leaf", "wait": True}}
    server.publish(sequence("twig", inner))
    outer = {"id": "call", "type": "ExecuteWorkflow", "inputs": {"workflow": "twig", "wait": True}}
    server.publish(sequence("trunk", outer))
    studio.open(f"/instances/{server.execute('trunk')['instance_id']}?tab=family")
    tree = studio.page.get_by_role("tabpanel").locator(".family")
    expect(tree.get_by_role("link", name="Twig")).to_be_visible()
    tree.get_by_role("link", name="Leaf").click()

    studio.heading("Leaf")
    studio.page.get_by_role("tab", name="Related").click()
    expect(tree.get_by_role("link", name="Trunk")).to_be_visible()
    expect(tree.locator("b")).to_have_text("Leaf")


def test_a_workflow_in_python_shows_its_line(studio: Studio, server: StudioServer) -> None:
    studio.open("/definitions/parcels")
    page, designer = studio.page, Designer(studio.page)
    expect(page.get_by_text("This workflow is defined in Python code")).to_be_visible()
    source = page.locator(".hf-python .cm-content")
    expect(source).to_contain_text("async def parcels")
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    designer.card("weigh").first.click()
    expect(page.locator(".hf-python .cm-current")).to_contain_text("weigh(")

    waiting = server.execute("parcels", {"count": 2})["instance_id"]
    studio.open(f"/instances/{waiting}")
    page.get_by_role("button", name="Source", exact=True).click()
    here = page.get_by_role("region", name="Source").locator("[aria-current=true]")
    expect(here).to_contain_text("wait_for(")
    server.call("POST", f"/api/instances/{waiting}/resume", {"payload": {"by": "Ada"}})
    expect(page.locator("header").get_by_text("Finished")).to_be_visible()
    # Time travel moves the highlighted line too.
    entries = server.call("GET", f"/api/instances/{waiting}/journal")["entries"]
    travel(page, 1 + next(at for at, one in enumerate(entries) if one["type"] == "weigh"))
    expect(here).to_contain_text("weigh(")


def test_what_failed_is_skipped_and_the_rest_goes_on(studio: Studio, server: StudioServer) -> None:
    broken = {"id": "broken", "type": "Fault", "name": "Broken", "inputs": {"message": "no ink"}}
    server.publish(sequence("skipping", line("before"), broken, line("after")))
    studio.open(f"/instances/{server.execute('skipping')['instance_id']}")
    panel = studio.page.get_by_role("tabpanel")
    expect(panel.get_by_text("no ink")).to_be_visible()
    panel.get_by_role("button", name="Show").click()
    panel.get_by_role("button", name="Skip").click()
    dialog = studio.page.get_by_role("dialog", name="Skip Broken")
    dialog.get_by_label("Reason").fill("printed by hand")
    dialog.get_by_role("button", name="Skip").click()

    expect(studio.page.locator("header").get_by_text("Finished")).to_be_visible()
    studio.page.get_by_role("tab", name="Journal").click()
    expect(panel.get_by_text("printed by hand")).to_be_visible()


def test_an_effect_is_retried_with_other_inputs(studio: Studio, server: StudioServer) -> None:
    call = {"id": "call", "type": "SendHttpRequest", "name": "Call", "inputs": {"url": "http://127.0.0.1:1/nobody"}}
    server.publish(sequence("calling", call))
    instance = server.call("POST", "/api/definitions/calling/dispatch", {"input": {}})["instance_ids"][0]
    studio.open(f"/instances/{instance}")
    panel = studio.page.get_by_role("tabpanel")
    studio.page.get_by_role("tab", name="Incidents").click()
    panel.get_by_role("button", name="Retry").click()
    dialog = studio.page.get_by_role("dialog", name="Retry Call")
    inputs = dialog.get_by_label("Inputs (JSON)")
    expect(inputs).to_have_value(re.compile("/nobody"))
    inputs.fill(inputs.input_value().replace("/nobody", "/somebody"))
    dialog.get_by_role("button", name="Retry").click()
    expect(dialog).to_have_count(0)
    expect(panel.locator("pre").filter(has_text="/somebody")).to_be_visible()
    (told,) = [one for one in server.call("GET", f"/api/instances/{instance}/incidents") if one["open"]]
    assert told["inputs"]["url"].endswith("/somebody")


def test_an_instance_is_forked_from_a_moment_and_from_now(studio: Studio, server: StudioServer) -> None:
    first = {"id": "first", "type": "Event", "name": "First", "inputs": {"event_name": "first"}}
    note = {"id": "note", "type": "SetVariable", "name": "Note", "inputs": {"variable": "stage", "value": "second"}}
    second = {"id": "second", "type": "Event", "name": "Second", "inputs": {"event_name": "second"}}
    server.publish(sequence("forks", first, note, second, variables=[{"name": "stage", "default": "first"}]))
    instance = server.execute("forks")["instance_id"]
    server.call("POST", "/api/events/first", {})
    studio.open(f"/instances/{instance}?tab=variables")
    page = studio.page
    values = page.get_by_role("tabpanel").locator("dl").first
    expect(values).to_contain_text("second")

    versions = [one["version"] for one in server.call("GET", f"/api/instances/{instance}/journal")["entries"]]
    travel(page, versions.count(versions[0]))
    expect(page.get_by_text("Recorded after this commit")).to_be_visible()
    expect(values).to_contain_text("first")
    page.get_by_role("button", name="Fork from here").click()
    expect(page).not_to_have_url(re.compile(instance))
    # The fork waits where the original waited at that time.
    expect(page.get_by_text("Viewing the past")).to_have_count(0)
    fork = page.url.split("/instances/")[1].split("?")[0]
    assert fork != instance
    assert [one["activity_id"] for one in server.call("GET", f"/api/instances/{fork}")["state"]["bookmarks"]] == [
        "first"
    ]

    studio.open(f"/instances/{instance}")
    page.locator("header").get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Fork a new instance").click()
    expect(page.get_by_text("Forked")).to_be_visible()
    expect(page).not_to_have_url(re.compile(instance))
    third = page.url.split("/instances/")[1].split("?")[0]
    assert [one["activity_id"] for one in server.call("GET", f"/api/instances/{third}")["state"]["bookmarks"]] == [
        "second"
    ]


def test_a_bookmark_is_resumed_by_hand(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "wait", "type": "Event", "inputs": {"event_name": "never"}, "outputs": {"result": "got"}}
    server.publish({"format": FORMAT, "id": "byhand", "name": "By hand", "variables": [{"name": "got"}], "root": wait})
    studio.open(f"/instances/{server.execute('byhand')['instance_id']}?tab=details")
    studio.page.get_by_role("tabpanel").get_by_role("button", name="Resume").click()
    dialog = studio.page.get_by_role("dialog")
    dialog.get_by_label("Payload (JSON)").fill('{"colour": "green"}')
    dialog.get_by_role("button", name="Resume").click()
    expect(studio.page.locator("header").get_by_text("Finished")).to_be_visible()
    studio.page.get_by_role("tab", name="Variables").click()
    expect(studio.page.get_by_role("tabpanel").get_by_text("green").first).to_be_visible()


def test_the_list_and_the_journal_go_on_by_themselves(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "wait", "type": "Event", "inputs": {"event_name": "onward"}}
    server.publish(sequence("moving", line("one"), wait, line("two")))
    studio.open("/instances?definition_id=moving")
    page = studio.page
    expect(page.get_by_text("No matches")).to_be_visible()
    instance = server.execute("moving")["instance_id"]
    expect(studio.row(instance).get_by_text("Suspended")).to_be_visible()
    server.call("POST", "/api/events/onward", {})
    expect(studio.row(instance).get_by_text("Finished")).to_be_visible()

    # Playback from the start ends in the present.
    studio.open(f"/instances/{instance}?tab=journal")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("Viewing the past")).to_be_visible()
    expect(page.get_by_text("Viewing the past")).to_have_count(0)
    expect(page.locator(".stage [data-status=completed]")).to_have_count(3)
    # A click on a journal entry moves to that entry.
    page.get_by_role("tabpanel").get_by_role("listitem").first.get_by_role("button").click()
    expect(page.get_by_text("Viewing the past")).to_be_visible()
