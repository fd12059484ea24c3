"""The canvas by mouse and keyboard: order, connections, levels, states, notes and the clipboard."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Response, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer, at, box_of, chart, line, sequence
from tests.support.studio.server import StudioServer


@pytest.fixture
def designer(studio: Studio) -> Designer:
    return Designer(studio.page)


def root_of(server: StudioServer, id: str) -> dict[str, Any]:
    root = server.call("GET", f"/api/definitions/{id}")["document"]["root"]
    assert isinstance(root, dict)
    return root


def ways(root: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(one["from"], one.get("outcome", "Done"), one["to"]) for one in root["connections"]}


def test_a_card_of_a_sequence_is_dragged_to_another_place(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    server.publish(sequence("order", line("first"), line("second"), line("third")))
    studio.open("/definitions/order")
    top = box_of(designer.card("First"))

    designer.carry(designer.card("Third"), top["x"] + top["width"] / 2, top["y"] - 20)

    expect(designer.canvas.locator(".react-flow__node .hf-title")).to_have_text(["Third", "First", "Second"])
    designer.saved()
    assert [one["id"] for one in root_of(server, "order")["activities"]] == ["third", "first", "second"]
    studio.page.keyboard.press("Control+z")
    expect(designer.canvas.locator(".react-flow__node .hf-title")).to_have_text(["First", "Second", "Third"])
    designer.saved()


def test_connections_are_drawn_moved_and_split(studio: Studio, designer: Designer, server: StudioServer) -> None:
    cards = (line("one", **at(0, 0)), line("two", **at(0, 160)), line("three", **at(320, 160)))
    server.publish(chart("wires", *cards, connections=[{"from": "one", "to": "two"}]))
    studio.open("/definitions/wires")
    page = studio.page

    # Reconnect: drag the end of a connection to another card.
    end = page.locator(".react-flow__edgeupdater-target").first
    goal = box_of(designer.card("Three").locator(".hf-in"))
    designer.carry(end, goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2)
    designer.saved()
    assert ways(root_of(server, "wires")) == {("one", "Done", "three")}

    # Connect two cards.
    goal = box_of(designer.card("Two").locator(".hf-in"))
    designer.carry(designer.card("Three").locator(".hf-out"), goal["x"] + 4, goal["y"] + 4)
    designer.saved()
    assert ("three", "Done", "two") in ways(root_of(server, "wires"))

    # Drop on empty space: the quick-add list opens.
    free = box_of(designer.card("Two"))
    designer.carry(designer.card("Two").locator(".hf-out"), free["x"] + 40, free["y"] + 160)
    designer.pick("Delay")
    designer.saved()
    root = root_of(server, "wires")
    delay = next(one["id"] for one in root["activities"] if one["type"] == "Delay")
    assert ("two", "Done", delay) in ways(root)

    # The insert button of a connection adds an activity in between.
    page.get_by_role("button", name="Insert activity").first.dispatch_event("click")
    designer.pick("Log")
    designer.saved()
    root = root_of(server, "wires")
    log = next(one["id"] for one in root["activities"] if one["type"] == "Log")
    assert ("one", "Done", log) in ways(root)
    assert (log, "Done", "three") in ways(root)

    # Connect the selected card by keyboard.
    designer.card("Two").click()
    expect(designer.card("Two").locator(".hf-card.selected")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_role("combobox", name="Connect Two to")).to_be_focused()
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    designer.saved()
    assert ("two", "Done", "one") in ways(root_of(server, "wires"))


def test_cards_are_aligned_distributed_duplicated_and_wrapped(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    cards = (line("one", **at(0, 0)), line("two", **at(40, 100)), line("three", **at(80, 400)))
    server.publish(chart("tidy", *cards, connections=[]))
    studio.open("/definitions/tidy")
    designer.card("One").click()
    studio.page.keyboard.press("Control+a")
    expect(designer.inspector.get_by_text("3 items selected")).to_be_visible()

    designer.inspector.get_by_role("button", name="Left", exact=True).click()
    designer.inspector.get_by_role("button", name="Vertically", exact=True).click()
    designer.saved()

    places = [one["metadata"]["position"] for one in root_of(server, "tidy")["activities"]]
    assert {one["x"] for one in places} == {0}
    assert places[1]["y"] - places[0]["y"] == places[2]["y"] - places[1]["y"]

    # By keyboard, and undone step by step.
    studio.page.keyboard.press("Alt+Shift+ArrowUp")
    designer.saved()
    assert {one["metadata"]["position"]["y"] for one in root_of(server, "tidy")["activities"]} == {0}
    for _ in range(3):
        studio.page.keyboard.press("Control+z")
    designer.saved()
    places = [one["metadata"]["position"] for one in root_of(server, "tidy")["activities"]]
    assert places == [{"x": 0, "y": 0}, {"x": 40, "y": 100}, {"x": 80, "y": 400}]

    # Select several cards by a rectangle with Shift.
    box = box_of(designer.card("One"))
    low = box_of(designer.card("Two"))
    studio.page.keyboard.down("Shift")
    studio.page.mouse.move(box["x"] - 20, box["y"] - 20)
    studio.page.mouse.down()
    studio.page.mouse.move(low["x"] + low["width"] / 2, low["y"] + low["height"] / 2, steps=5)
    studio.page.mouse.up()
    studio.page.keyboard.up("Shift")
    expect(designer.inspector.get_by_text("2 items selected")).to_be_visible()
    designer.inspector.get_by_role("button", name="Duplicate").click()
    expect(designer.card("One")).to_have_count(2)
    designer.saved()
    assert len(root_of(server, "tidy")["activities"]) == 5


def test_what_is_copied_is_json_and_goes_into_another_workflow(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    studio.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    server.publish(
        chart("from", line("one", **at(0, 0)), line("two", **at(0, 160)), connections=[{"from": "one", "to": "two"}])
    )
    server.publish(sequence("into", line("here")))
    studio.open("/definitions/from")
    designer.card("One").click()
    studio.page.keyboard.press("Control+a")
    studio.page.keyboard.press("Control+c")
    studio.page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('WriteLine')")
    copied = json.loads(studio.page.evaluate("navigator.clipboard.readText()"))
    assert {one["id"] for one in copied["activities"]} == {"one", "two"}

    studio.page.keyboard.press("Control+v")
    expect(designer.card("Two")).to_have_count(2)
    designer.saved()
    root = root_of(server, "from")
    assert len(root["activities"]) == 4
    assert len(root["connections"]) == 2

    studio.open("/definitions/into")
    designer.card("Here").click()
    studio.page.keyboard.press("Control+v")
    expect(designer.canvas.locator(".react-flow__node .hf-title")).to_have_text(["Here", "One", "Two"])

    # The JSON of a single activity can be pasted too.
    written = json.dumps({"type": "Log", "id": "told", "name": "Told by hand", "inputs": {"message": "hello"}})
    studio.page.evaluate("text => navigator.clipboard.writeText(text)", written)
    studio.page.keyboard.press("Control+v")
    expect(designer.card("Told by hand")).to_be_visible()
    # Cut copies and removes.
    studio.page.keyboard.press("Control+x")
    expect(designer.card("Told by hand")).to_have_count(0)
    designer.saved()
    assert [one["type"] for one in root_of(server, "into")["activities"]] == ["WriteLine"] * 3


def test_containers_are_opened_and_left_by_the_breadcrumb(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    inner = {"id": "inner", "type": "Sequence", "name": "Inner", "activities": [line("deep")]}
    branch = {"id": "branch", "type": "If", "name": "Branch", "inputs": {"condition": True}, "then": inner}
    server.publish(chart("nest", branch, line("after"), connections=[{"from": "branch", "to": "after"}]))
    studio.open("/definitions/nest")

    designer.card("Branch").get_by_role("button", name="Then").click()
    expect(designer.card("Deep")).to_be_visible()
    expect(designer.crumbs.get_by_role("button", name="Nest")).to_be_visible()
    # The URL opens the same level again.
    studio.page.reload()
    expect(designer.card("Deep")).to_be_visible()
    designer.next("Deep", "Log")
    designer.saved()

    designer.crumbs.get_by_role("button", name="Nest").click()
    expect(designer.card("After")).to_be_visible()
    designer.card("After").click()
    # Escape clears the selection, then goes up one level. This is the top level.
    studio.page.keyboard.press("Escape")
    expect(designer.inspector.get_by_role("heading", name="1 item")).to_have_count(0)

    # Search finds nested activities and opens them.
    studio.page.keyboard.press("Control+f")
    expect(studio.page.get_by_role("combobox", name="Search in workflow")).to_be_focused()
    studio.page.keyboard.type("deep")
    studio.page.keyboard.press("Enter")
    expect(designer.card("Deep").locator(".hf-card.selected")).to_be_visible()
    studio.page.keyboard.press("Alt+ArrowUp")
    root = root_of(server, "nest")
    assert [one["type"] for one in root["activities"][0]["then"]["activities"]] == ["WriteLine", "Log"]


def test_a_state_machine_is_drawn_published_and_driven(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    page = studio.page
    page.get_by_role("button", name="New definition").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Door")
    dialog.get_by_label("Kind").select_option("stateMachine")
    dialog.get_by_role("button", name="Create").click()

    expect(page.get_by_text("Press A to add the first state.")).to_be_visible()
    page.keyboard.press("a")
    expect(designer.card("State 1")).to_be_visible()
    designer.inspector.get_by_label("Name", exact=True).fill("Closed")
    page.keyboard.press("Tab")
    expect(designer.card("Closed")).to_be_visible()
    # Adds a second state after the selected one, with a transition.
    designer.card("Closed").click()
    page.keyboard.press("a")
    expect(designer.card("State 2")).to_be_visible()
    designer.inspector.get_by_label("Name", exact=True).fill("Open")
    page.keyboard.press("Tab")
    expect(designer.card("Open")).to_be_visible()
    expect(page.get_by_text("to Open", exact=True)).to_be_visible()

    page.locator(".react-flow__edge .hf-edge-label").click()
    expect(designer.inspector.get_by_role("heading", name="Transition")).to_be_visible()
    designer.inspector.get_by_label("Trigger").select_option(label="Event")
    designer.inspector.get_by_role("button", name="Open", exact=True).first.click()
    designer.field("event_name").fill("opened")
    designer.saved()
    server.call("POST", "/api/definitions/door/publish", {})

    instance = server.execute("door")["instance_id"]
    studio.open(f"/instances/{instance}")
    expect(page.get_by_text("Waiting for")).to_be_visible()
    server.call("POST", "/api/events/opened", {})
    expect(page.locator("header").get_by_text("Finished")).to_be_visible()


def test_notes_and_comments_stay_with_the_drawing(studio: Studio, designer: Designer, server: StudioServer) -> None:
    server.publish(chart("notes", line("one", **at(200, 200)), connections=[]))
    studio.open("/definitions/notes")
    expect(designer.card("One")).to_be_visible()
    studio.page.keyboard.press("n")
    note = designer.canvas.get_by_label("Note", exact=True)
    note.fill("Ask Ada before changing this")
    designer.card("One").click()
    part = designer.unfold("Comments")
    part.get_by_label("Write a comment").fill("Is the text right?")
    part.get_by_role("button", name="Comment", exact=True).click()
    expect(part.get_by_text("Is the text right?")).to_be_visible()
    expect(part.get_by_text("admin")).to_be_visible()
    designer.saved()

    studio.page.reload()
    expect(note).to_have_value("Ask Ada before changing this")
    badge = designer.card("One").locator(".hf-comments")
    expect(badge).to_have_text("1")
    badge.click()
    expect(part.get_by_text("Is the text right?")).to_be_visible()
    part.get_by_role("button", name="Remove the comment").click()
    expect(badge).to_have_count(0)

    # Notes are moved and removed like cards.
    grip, before = designer.canvas.locator(".hf-note-grip"), box_of(note)
    designer.carry(grip, before["x"] + 200, before["y"] + 90)
    assert box_of(note)["y"] > before["y"] + 40
    designer.saved()
    expect(designer.canvas.locator(".hf-note.selected")).to_be_visible()
    studio.page.keyboard.press("Delete")
    expect(note).to_have_count(0)
    designer.saved()


def is_save(answer: Response) -> bool:
    return answer.request.method == "PUT"


def test_the_source_is_edited_as_one_step(studio: Studio, designer: Designer, server: StudioServer) -> None:
    server.publish(sequence("written", line("one")))
    studio.open("/definitions/written")
    expect(designer.card("One")).to_be_visible()
    page = studio.page
    page.get_by_role("button", name="Source", exact=True).click()
    source = page.get_by_role("textbox", name="Source")
    expect(source).to_contain_text("WriteLine")
    source.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("{")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Invalid JSON")).to_be_visible()
    source.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(json.dumps(sequence("written", line("one"), line("two"))))
    with page.expect_response(is_save):  # "Saved" may still be visible from before.
        page.get_by_role("button", name="Apply").click()
    page.get_by_role("button", name="Canvas", exact=True).click()
    expect(designer.card("Two")).to_be_visible()
    designer.saved()
    with page.expect_response(is_save):
        page.get_by_role("button", name="Undo").click()
    expect(designer.card("Two")).to_have_count(0)
    designer.saved()
    assert [one["id"] for one in root_of(server, "written")["activities"]] == ["one"]


def test_a_lay_out_leaves_alone_what_stands_by_hand(studio: Studio, designer: Designer, server: StudioServer) -> None:
    cards = (line("one", **at(0, 0)), line("two", **at(0, 160)), line("three", **at(40, 500)))
    ends = [{"from": "one", "to": "two"}, {"from": "two", "to": "three"}]
    server.publish(chart("laid", *cards, connections=ends))
    studio.open("/definitions/laid")
    box = box_of(designer.card("Two"))
    designer.carry(designer.card("Two"), box["x"] + 380, box["y"] + 30)
    designer.saved()
    _, moved, low = (one["metadata"]["position"] for one in root_of(server, "laid")["activities"])
    assert moved["x"] > 200

    studio.page.locator("header").get_by_role("button", name="More").click()
    studio.page.get_by_role("menuitem", name="Auto layout", exact=True).click()
    designer.saved()
    _, still, gone = (one["metadata"]["position"] for one in root_of(server, "laid")["activities"])
    assert still == moved
    assert gone != low

    # Reset layout moves all cards; undo restores them.
    studio.page.locator("header").get_by_role("button", name="More").click()
    studio.page.get_by_role("menuitem", name="Layout left to right").click()
    first, last = box_of(designer.card("One")), box_of(designer.card("Three"))
    assert last["x"] > first["x"] + first["width"]
    studio.page.get_by_role("button", name="Undo").click()
    designer.saved()
    assert root_of(server, "laid")["activities"][1]["metadata"]["position"] == moved


def test_problems_stand_on_the_card_and_in_a_list(studio: Studio, designer: Designer, server: StudioServer) -> None:
    server.call("POST", "/api/definitions", chart("wrong", line("one"), connections=[]))
    studio.open("/definitions/wrong")
    expect(studio.page.get_by_role("button", name="No problems")).to_be_visible()
    designer.card("One").click()
    designer.code("Text", "nobody + 1")
    count = studio.page.locator(".hf-problem-count")
    expect(count).to_contain_text("1 problem")
    expect(designer.card("One").get_by_role("img", name="Has")).to_be_visible()

    designer.nothing()
    count.click()
    studio.page.get_by_role("region", name="Problems").get_by_role("button").filter(has_text="nobody").click()
    expect(designer.card("One").locator(".hf-card.selected")).to_be_visible()
    designer.code("Text", "'mended'")
    expect(count).to_contain_text("No problems")
    designer.saved()


def test_a_big_workflow_has_no_map_and_a_middling_one_has(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    for id, count in (("middling", 30), ("huge", 501)):
        cards = [line(f"n{index}", **at(280 * (index % 25), 120 * (index // 25))) for index in range(count)]
        ends = [{"from": f"n{index}", "to": f"n{index + 1}"} for index in range(count - 1)]
        server.call("POST", "/api/definitions", chart(id, *cards, connections=ends))
    studio.open("/definitions/middling")
    expect(studio.page.locator(".react-flow__minimap")).to_be_visible()
    studio.open("/definitions/huge")
    expect(studio.page.locator(".hf-canvas[data-ready]")).to_be_visible()
    expect(studio.page.locator(".react-flow__minimap")).to_have_count(0)
    # Search works in the overview too.
    studio.page.keyboard.press("Control+f")
    expect(studio.page.get_by_role("combobox", name="Search in workflow")).to_be_focused()
    studio.page.keyboard.type("N500")
    studio.page.keyboard.press("Enter")
    expect(designer.inspector.get_by_label("Name", exact=True)).to_have_value("N500")
