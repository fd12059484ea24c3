"""Export, import by file drop, publish with active instances, and the run dialog."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer, chart, line, sequence
from tests.support.studio.server import StudioServer


def downloaded(page: Page, command: str) -> Path:
    page.locator("header").get_by_role("button", name="More").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=command, exact=True).click()
    return Path(waiting.value.path()).rename(Path(waiting.value.path()).with_name(waiting.value.suggested_filename))


def test_a_drawing_leaves_as_json_python_svg_and_png(studio: Studio, server: StudioServer) -> None:
    server.publish(chart("leaving", line("one"), line("two"), connections=[{"from": "one", "to": "two"}]))
    studio.open("/definitions/leaving")
    expect(Designer(studio.page).card("Two")).to_be_visible()

    document = json.loads(downloaded(studio.page, "Export as JSON").read_text(encoding="utf-8"))
    assert document["id"] == "leaving"
    python = downloaded(studio.page, "Export as Python")
    assert python.name == "leaving.py"
    compile(python.read_text(encoding="utf-8"), python.name, "exec")
    assert "leaving" in python.read_text(encoding="utf-8")
    svg = downloaded(studio.page, "Export as SVG").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "Two" in svg
    assert downloaded(studio.page, "Export as PNG").read_bytes().startswith(b"\x89PNG")


def test_files_are_dropped_onto_the_page(studio: Studio, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for id in ("dropped-one", "dropped-two"):
            archive.writestr(f"{id}.json", json.dumps(sequence(id, line("one"))))
    studio.page.evaluate(
        """async (text) => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], "two.zip", { type: "application/zip" }));
            const page = document.querySelector(".page");
            for (const name of ["dragenter", "dragover", "drop"])
                page.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: carried }));
        }""",
        base64.b64encode(packed.getvalue()).decode(),
    )
    result = studio.page.get_by_role("dialog", name="Imported")
    expect(result.get_by_role("link")).to_have_count(2)
    result.get_by_role("button", name="Close").last.click()
    expect(studio.row("Dropped-two")).to_be_visible()

    # Export several as one zip.
    for name in ("Dropped-one", "Dropped-two"):
        studio.row(name).get_by_role("checkbox").check()
    with studio.page.expect_download() as waiting:
        studio.page.get_by_role("toolbar").get_by_role("button", name="Export").click()
    with zipfile.ZipFile(waiting.value.path()) as archive:
        assert len(archive.namelist()) == 2


def test_publishing_says_what_lives_on_earlier_versions(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "wait", "type": "Event", "inputs": {"event_name": "go"}}
    server.publish(sequence("living", line("one"), wait))
    for _ in range(2):
        server.execute("living")
    studio.open("/definitions/living")
    designer = Designer(studio.page)
    designer.card("One").click()
    designer.field("text").fill("changed")
    designer.saved()
    studio.page.get_by_role("button", name="Publish", exact=True).click()
    dialog = studio.page.get_by_role("dialog", name="Publish Living")
    expect(dialog.get_by_text("2 instances are active on earlier versions")).to_be_visible()
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(studio.page.get_by_text("Published version 2")).to_be_visible()
    expect(studio.page.locator("header").get_by_text("v2 Published")).to_be_visible()


def test_a_run_takes_draft_or_published_and_starts_where_it_is_told(studio: Studio, server: StudioServer) -> None:
    ways = [{"from": "one", "to": "two"}]
    server.publish(chart("twofold", line("one", "published"), line("two"), connections=ways))
    server.call(
        "PUT", "/api/definitions/twofold", chart("twofold", line("one", "draft"), line("two"), connections=ways)
    )
    studio.open("/definitions/twofold")
    page = studio.page

    def run(which: str, start: str | None = None) -> list[dict[str, object]]:
        page.locator("header").get_by_role("button", name="Run", exact=True).click()
        dialog = page.get_by_role("dialog", name="Run Twofold")
        dialog.get_by_role("button", name=which).click()
        expect(dialog.get_by_text("Runs v1" if which.startswith("Published") else "Runs v2")).to_be_visible()
        if start is not None:
            dialog.get_by_label("Start at").select_option(start)
        dialog.get_by_role("button", name="Run", exact=True).click()
        expect(page).to_have_url(re.compile("/instances/"))
        instance = page.url.split("/instances/")[1].split("?")[0]
        detail = server.call("GET", f"/api/instances/{instance}")
        page.go_back()
        entries = server.call("GET", f"/api/instances/{instance}/journal")["entries"]
        return [{"version": detail["definition_version"], "activity": one["activity_id"]} for one in entries]

    assert {one["version"] for one in run("Published v1")} == {1}
    assert {one["version"] for one in run("Draft v2")} == {2}
    seen = {one["activity"] for one in run("Draft v2", "two")}
    assert "two" in seen
    assert "one" not in seen


def test_versions_are_looked_at_and_thrown_away(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("history", line("one", "first")))
    server.publish_again(sequence("history", line("one", "second")))
    server.call("PUT", "/api/definitions/history", sequence("history", line("one", "third")))
    page = studio.page
    studio.open("/definitions/history?version=1")
    expect(page.get_by_text("You are viewing an earlier version.")).to_be_visible()
    designer = Designer(page)
    designer.card("One").click()
    expect(designer.field("text")).to_have_value("first")
    page.get_by_role("link", name="Open latest version").click()
    designer.card("One").click()
    expect(designer.field("text")).to_have_value("third")

    studio.open("/definitions/history/versions")
    page.get_by_role("button", name="Combined").click()
    expect(page.get_by_role("region", name="Compare")).to_contain_text("third")
    page.get_by_role("button", name="Actions for version 3").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("list", name="Versions").get_by_role("listitem")).to_have_count(2)


def test_definitions_are_labelled_duplicated_retracted_and_deleted(studio: Studio, server: StudioServer) -> None:
    for id in ("lot-a", "lot-b"):
        server.publish(sequence(id, line("one")))
    page = studio.page
    page.reload()
    for id in ("lot-a", "lot-b"):
        studio.row(id).get_by_role("checkbox").check()
    bar = page.get_by_role("toolbar")
    bar.get_by_role("button", name="Labels and folder").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Folder").fill("Lots/Small")
    dialog.get_by_label("Labels").fill("cheap, small")
    dialog.get_by_role("button", name="Save").click()
    expect(studio.row("lot-a").get_by_text("Lots/Small")).to_be_visible()
    page.get_by_label("Folder", exact=True).select_option("Lots/Small")
    expect(page.get_by_role("row")).to_have_count(3)

    studio.choose("lot-a", "Duplicate")
    dialog.get_by_label("New id").fill("lot-c")
    dialog.get_by_role("button", name="Duplicate").click()
    expect(page).to_have_url(studio.url + "/definitions/lot-c")

    studio.open("/definitions?search=lot-")
    for name in ("Lot-a", "Lot-b"):
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).check()
    bar.get_by_role("button", name="Retract").click()
    dialog.get_by_role("button", name="Retract").click()
    expect(page.get_by_role("row").get_by_text("Published")).to_have_count(0)
    for name in ("Lot-a", "Lot-b"):
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).check()
    bar.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("row")).to_have_count(2)
    expect(studio.row("lot-c")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_every_column_of_the_lists_sorts(studio: Studio) -> None:
    for path in ("/definitions", "/instances"):
        studio.open(path)
        expect(studio.page.get_by_role("row").nth(1)).to_be_visible()
        heads = studio.page.get_by_role("columnheader").get_by_role("button")
        for index in range(heads.count()):
            with studio.page.expect_response(lambda answer: "sort=" in answer.url) as told:
                heads.nth(index).click()
            assert told.value.ok, heads.nth(index).inner_text()
            expect(studio.page.locator("th[aria-sort=ascending], th[aria-sort=descending]")).to_have_count(1)


def test_what_lives_is_moved_from_where_it_was_published(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "wait", "type": "Event", "name": "Wait", "inputs": {"event_name": "never"}}
    server.publish(sequence("moved", wait, line("after")))
    alive = server.execute("moved")["instance_id"]
    page, designer = studio.page, Designer(studio.page)
    studio.open("/definitions/moved")
    designer.inspect("After")
    designer.field("text").fill("something else")
    designer.saved()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()

    page.get_by_role("button", name="Migrate instances").click()
    plan = page.get_by_role("dialog")
    expect(plan.get_by_text("1 instance matches now", exact=False)).to_be_visible()
    plan.get_by_role("button", name="Next").click()
    expect(plan.get_by_label("Version")).to_have_value("2")
    plan.get_by_role("button", name="Dry run").click()
    plan.get_by_role("button", name="Alter 1 instance").click()
    expect(plan).to_be_hidden()

    studio.open(f"/instances/{alive}")
    expect(page.get_by_role("link", name="v2")).to_be_visible()


def test_differences_are_told_by_name_and_reached_by_keys(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("told", line("first"), {"id": "x1", "type": "Delay", "inputs": {"duration": "PT1S"}}))
    server.publish_again(sequence("told", line("first"), {"id": "x1", "type": "Delay", "inputs": {"duration": "PT2S"}}))
    studio.open("/definitions/told/versions")

    studio.page.get_by_role("region", name="Changes").get_by_role("button", name="Activity Delay").press("Enter")

    expect(studio.page.locator(".react-flow__node.selected").first).to_be_visible()
