"""The inspector: editors for every kind of input, expression previews, and the test of one activity."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.demo import FORMAT
from tests.support.studio.designer import Designer, chart, line, sequence
from tests.support.studio.server import StudioServer


@pytest.fixture
def designer(studio: Studio) -> Designer:
    return Designer(studio.page)


def activity_of(server: StudioServer, id: str, index: int = 0) -> dict[str, Any]:
    found = server.call("GET", f"/api/definitions/{id}")["document"]["root"]["activities"][index]
    assert isinstance(found, dict)
    return found


def test_a_cron_shows_its_next_times_and_says_what_is_wrong(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    night = {"id": "night", "type": "Cron", "inputs": {"expression": "0 3 * * *"}, "options": {"can_start": True}}
    server.publish(sequence("cron", night, line("report")))
    studio.open("/definitions/cron")
    designer.card("Cron").click()

    times = designer.inspector.get_by_role("list", name="Next")
    expect(times.get_by_role("listitem")).to_have_count(3)
    field = designer.field("expression")
    field.fill("61 * * * *")
    expect(designer.inspector.get_by_text("Invalid cron expression")).to_be_visible()
    expect(times).to_have_count(0)
    field.fill("15 8 * * 1-5")
    expect(times.get_by_role("listitem").first).to_contain_text(":15")
    designer.saved()
    assert activity_of(server, "cron")["inputs"]["expression"] == "15 8 * * 1-5"


def test_an_expression_shows_what_it_gives_with_the_values_of_an_instance(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    shown = line("told", None, name="Told", inputs={"text": {"$python": "total * 2 + fee"}})
    fee = {"id": "fee", "type": "SetVariable", "inputs": {"variable": "fee", "value": 5}}
    server.publish(
        sequence(
            "values",
            fee,
            shown,
            inputs=[{"name": "total", "type": "integer"}],
            variables=[{"name": "fee", "default": 1}],
        )
    )
    instance = server.execute("values", {"total": 100})["instance_id"]
    studio.open("/definitions/values")
    designer.card("Told").click()
    preview = designer.inspector.locator(".hf-preview")
    # With the defaults, `total` has no value: the preview shows nothing instead of an error.
    expect(preview).to_have_count(0)

    designer.inspector.get_by_role("button", name="defaults").click()
    studio.page.get_by_role("dialog", name="Preview values").get_by_role("button").filter(has_text=instance).click()
    expect(preview).to_have_text("=205")
    designer.code("Text", "total - 1")
    expect(preview).to_have_text("=99")
    designer.code("Text", "total // 0")
    expect(preview).to_contain_text("zero")

    # Completion offers inputs and variables in the syntax of the language.
    editor = designer.inspector.locator(".cm-content").first
    for kind, typed, name, told, gives in (
        ("python", "tot", "total", "total", "=100"),
        ("javascript", "tot", "total", 'getInput("total")', "=100"),
        ("javascript", "variables.f", "fee", "variables.fee", "=5"),
        ("liquid", "{{ tot", "total", "{{ Input.total", '="100"'),
    ):
        designer.code("Text", "", kind)
        editor.click()
        studio.page.keyboard.type(typed)
        studio.page.locator(".cm-tooltip-autocomplete li").filter(has_text=name).first.click()
        expect(editor).to_contain_text(told)
        expect(preview).to_have_text(gives)
    designer.inspector.get_by_label("Text: kind of value").select_option("variable")
    designer.inspector.get_by_label("Text", exact=True).select_option("fee")
    designer.saved()
    assert activity_of(server, "values", 1)["inputs"]["text"] == {"$variable": "fee"}


def test_one_activity_is_tried_alone_with_given_values(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    double = {
        "id": "double",
        "type": "SetVariable",
        "name": "Double",
        "inputs": {"variable": "twice", "value": {"$python": "amount * 2"}},
    }
    told = line("told", None, name="Told", inputs={"text": {"$python": "'amount ' + str(amount)"}})
    server.publish(
        sequence(
            "trial",
            double,
            told,
            inputs=[{"name": "amount", "type": "integer"}],
            variables=[{"name": "twice", "default": 0}],
        )
    )
    instance = server.execute("trial", {"amount": 7})["instance_id"]
    studio.open("/definitions/trial")
    designer.card("Double").click()
    part = designer.unfold("Test activity")
    values = part.get_by_label("Variables")
    values.fill('{"amount": 21, "twice": 0}')
    part.get_by_role("button", name="Run").click()
    expect(part.get_by_text("Finished")).to_be_visible()
    expect(part.locator("pre")).to_contain_text('"twice": 42')

    values.fill('{"amount": null, "twice": 0}')
    part.get_by_role("button", name="Run").click()
    expect(part.get_by_text("Faulted")).to_be_visible()
    expect(part.locator("pre")).to_contain_text("NoneType")

    # The values of an instance are filled in, and the output is shown.
    designer.inspector.get_by_role("button", name="defaults").click()
    studio.page.get_by_role("dialog").get_by_role("button").filter(has_text=instance).click()
    designer.card("Told").click()
    part = designer.unfold("Test activity")
    expect(part.get_by_label("Variables")).to_contain_text('"amount": 7')
    part.get_by_role("button", name="Run").click()
    expect(part.locator("pre")).to_contain_text("amount 7")
    assert server.call("GET", "/api/instances?definition_id=trial&total=true")["total"] == 1


def test_inputs_are_edited_by_what_they_are(studio: Studio, designer: Designer, server: StudioServer) -> None:
    cards = (
        {"id": "delay", "type": "Delay", "name": "Pause"},
        {"id": "call", "type": "SendHttpRequest", "name": "Call", "inputs": {"url": "http://localhost/"}},
        {"id": "which", "type": "FlowSwitch", "name": "Which"},
        {"id": "child", "type": "ExecuteWorkflow", "name": "Child"},
        {"id": "task", "type": "HumanTask", "name": "Task", "inputs": {"title": "Look"}},
    )
    server.call("POST", "/api/definitions", chart("kinds", *cards, connections=[]))
    server.publish(sequence("callee", line("one")))
    studio.open("/definitions/kinds")
    inspector = designer.inspector

    designer.inspect("Pause")
    length = inspector.locator("[data-input=duration]")
    length.get_by_label("Hours").fill("2")
    length.get_by_label("Minutes").fill("30")

    designer.inspect("Call")
    designer.field("method").select_option(label="POST")

    designer.inspect("Child")
    expect(inspector.get_by_role("option", name="Callee")).to_be_attached()
    designer.field("workflow").select_option("callee")

    designer.inspect("Which")
    part = designer.section("Cases")
    part.get_by_role("button", name="Add").first.click()
    designer.saved()
    document = server.call("GET", "/api/definitions/kinds")["document"]
    inputs = {one["id"]: one.get("inputs", {}) for one in document["root"]["activities"]}
    assert inputs["delay"]["duration"] == "PT2H30M"
    assert inputs["call"]["method"] == "POST"
    assert inputs["child"]["workflow"] == "callee"


def test_every_activity_of_the_library_can_be_inspected(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    """Opens each editor once with all sections expanded, because a failing editor breaks the whole page."""
    types = [
        one["type"] for one in server.call("GET", "/api/descriptors/activities")["items"] if one.get("browsable", True)
    ]
    cards = [{"id": f"a{index}", "type": type, "name": f"#{index}#"} for index, type in enumerate(types)]
    server.call(
        "POST",
        "/api/definitions",
        {"format": FORMAT, "id": "all", "root": {"id": "steps", "type": "Sequence", "activities": cards}},
    )
    studio.open("/definitions/all")
    expect(designer.card("#0#")).to_be_visible()
    for index, type in enumerate(types):
        studio.page.keyboard.press("Control+f")
        expect(studio.page.get_by_role("combobox", name="Search in workflow")).to_be_focused()
        studio.page.keyboard.type(f"#{index}#")
        studio.page.keyboard.press("Enter")
        expect(designer.inspector.get_by_label("Name", exact=True).first).to_have_value(f"#{index}#")
        studio.page.evaluate("document.querySelectorAll('.hf-inspector details').forEach(one => one.open = true)")
        expect(designer.inspector.get_by_text("The server does not know this activity type")).to_have_count(0)
        assert studio.errors == [], type
