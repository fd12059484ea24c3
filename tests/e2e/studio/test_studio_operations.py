"""Pages for operators: dead letters, schedules, alterations, users, dashboard."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from holdfast.model.commit import Commit
from holdfast.model.work import DeadLetterRow, WorkRow
from holdfast.persistence.url import store_from_url
from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import line, sequence
from tests.support.studio.server import StudioServer


def bury(server: StudioServer, *ids: str) -> None:
    """Writes dead letters directly into the store of the server."""

    async def put() -> None:
        store = store_from_url(server.store)
        await store.open()
        try:
            now = datetime.now(UTC)
            rows = [WorkRow(id=id, kind="start", queue="nobody", created=now) for id in ids]
            letters = tuple(DeadLetterRow(work=row, reason="attempts", died=now) for row in rows)
            await store.commit([Commit(burst_id="buried", dead_letters=letters)])
        finally:
            await store.close()

    with ThreadPoolExecutor(1) as other:
        other.submit(asyncio.run, put()).result()


def test_dead_letters_are_read_replayed_and_discarded(studio: Studio, server: StudioServer) -> None:
    bury(server, "letter-one", "letter-two", "letter-three")
    studio.open("/dead-letters")
    page = studio.page
    expect(page.get_by_role("row")).to_have_count(4)
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name="letter-one"))
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Show").click()
    expect(page.get_by_role("dialog", name="Dead letter letter-one")).to_contain_text("attempts")
    page.keyboard.press("Escape")

    row.get_by_role("checkbox").check()
    page.get_by_role("toolbar").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Replayed 1")).to_be_visible()
    expect(row).to_have_count(0)
    page.get_by_role("checkbox", name="all").check()
    page.get_by_role("toolbar").get_by_role("button", name="Discard").click()
    page.get_by_role("dialog", name="Discard 2 dead letters?").get_by_role("button", name="Discard").click()
    expect(page.get_by_text("No dead letters")).to_be_visible()


def test_a_schedule_is_run_now(studio: Studio, server: StudioServer) -> None:
    night = {"id": "night", "type": "Cron", "inputs": {"expression": "0 3 * * *"}, "options": {"can_start": True}}
    server.publish(sequence("tonight", night, line("report")))
    studio.open("/schedules")
    studio.choose("tonight", "Run now")
    expect(studio.page.get_by_text("Started", exact=True)).to_be_visible()
    studio.open("/instances?definition_id=tonight")
    expect(studio.row("Tonight").get_by_text("Finished")).to_be_visible()
    studio.open("/triggers")
    expect(studio.row("tonight")).to_be_visible()


@pytest.mark.usefixtures("seeded")
def test_a_plan_is_made_for_all_that_match(studio: Studio, server: StudioServer) -> None:
    wait = {"id": "wait", "type": "Event", "inputs": {"event_name": "never"}}
    server.publish(sequence("planned", wait, variables=[{"name": "level", "default": 1}]))
    ids = [server.execute("planned")["instance_id"] for _ in range(3)]
    studio.open("/alterations")
    page = studio.page
    page.get_by_role("button", name="New plan").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Definition").select_option("planned")
    expect(dialog.get_by_text("3 instances match now.")).to_be_visible()
    dialog.get_by_role("button", name="Next").click()
    dialog.get_by_label("Variable").fill("level")
    dialog.get_by_label("Value (JSON)").fill("9")
    dialog.get_by_role("button", name="Add change").click()
    dialog.get_by_label("Change", exact=True).last.select_option("cancel_activity")
    dialog.get_by_label("Activity id").fill("wait")
    dialog.get_by_role("button", name="Remove this change").last.click()
    dialog.get_by_label("Reason").fill("prices rose")
    dialog.get_by_role("button", name="Dry run").click()
    expect(dialog.get_by_text("applies 3")).to_be_visible()
    dialog.get_by_role("button", name="Alter 3 instances").click()

    expect(studio.row("prices rose").get_by_text("3 / 3")).to_be_visible()
    assert {server.call("GET", f"/api/instances/{id}")["state"]["variables"]["level"] for id in ids} == {9}
    page.get_by_role("button", name="Set a variable").first.click()
    expect(page.get_by_role("dialog")).to_contain_text('"variable": "level"')


def test_a_role_of_ones_own_decides_what_is_offered(studio: Studio, server: StudioServer) -> None:
    studio.open("/roles")
    page = studio.page
    page.get_by_role("button", name="New role").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Role").fill("watcher")
    dialog.get_by_label("instances:read").check()
    dialog.get_by_role("button", name="Save").click()
    expect(studio.row("watcher").get_by_text("instances:read")).to_be_visible()
    server.call("POST", "/api/users", {"user": "wanda", "password": "just-watching-9", "roles": ["watcher"]})

    studio.open("/users")
    studio.choose("wanda", "Edit")
    dialog.get_by_label("Name").fill("Wanda W.")
    dialog.get_by_role("button", name="Save").click()
    expect(studio.row("Wanda W.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    studio.sign_in("wanda", "just-watching-9")
    expect(page.get_by_role("link", name="Instances")).to_be_visible()
    for name in ("Definitions", "Tasks", "Users", "Schedules", "Settings"):
        expect(page.get_by_role("navigation").get_by_role("link", name=name, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    studio.sign_in()
    studio.open("/users")
    studio.choose("wanda", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(studio.row("wanda")).to_have_count(0)
    studio.open("/roles")
    studio.choose("watcher", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(studio.row("watcher")).to_have_count(0)


def test_a_key_opens_the_api_until_it_is_revoked(studio: Studio, server: StudioServer) -> None:
    studio.open("/api-keys")
    page = studio.page
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("the till")
    dialog.get_by_label("viewer").check()
    dialog.get_by_role("button", name="Create key").click()
    expect(page.get_by_text("Copy the key now")).to_be_visible()
    key = page.get_by_role("dialog").locator(".value").first.inner_text()
    asked = page.request.get(server.url + "/api/definitions", headers={"X-Api-Key": key})
    assert asked.status == 200
    page.get_by_role("button", name="Done").click()
    studio.choose("the till", "Revoke")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(studio.row("the till")).to_have_count(0)
    assert page.request.get(server.url + "/api/definitions", headers={"X-Api-Key": key}).status == 401


@pytest.mark.usefixtures("seeded")
def test_settings_nodes_and_figures_are_there(studio: Studio, seeded: dict[str, str]) -> None:
    page = studio.page
    studio.open("/settings")
    page.get_by_role("searchbox").fill("admin_password")
    expect(studio.row("admin_password").get_by_text("Secret", exact=False).first).to_be_visible()
    expect(page.get_by_text("harbour-lantern")).to_have_count(0)
    studio.open("/nodes")
    expect(page.get_by_role("row")).not_to_have_count(1)
    studio.open("/dashboard")
    page.get_by_role("button", name="1 hour").click()
    expect(page.get_by_role("heading", name="Throughput")).to_be_visible()
    page.get_by_role("link", name="Shipment").first.click()


def test_many_are_retried_and_deleted_at_once(studio: Studio, server: StudioServer) -> None:
    broken = {"id": "divide", "type": "SetVariable", "inputs": {"variable": "each", "value": {"$python": "1 // vans"}}}
    server.publish(sequence("vans", broken, variables=[{"name": "vans", "default": 0}, {"name": "each", "default": 0}]))
    ids = [server.execute("vans")["instance_id"] for _ in range(2)]
    for id in ids:
        server.call("PATCH", f"/api/instances/{id}/variables", {"variables": {"vans": 1}})
    studio.open("/instances?definition_id=vans")
    page = studio.page
    for id in ids:
        studio.row(id).get_by_role("checkbox").check()
    page.get_by_role("toolbar").get_by_role("button", name="Retry").click()
    page.get_by_role("dialog", name="Retry 2 instances?").get_by_role("button", name="Retry").click()
    for id in ids:
        expect(studio.row(id).get_by_text("Finished")).to_be_visible()
    for id in ids:
        studio.row(id).get_by_role("checkbox").check()
    page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete 2 instances?").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No matches")).to_be_visible()
    assert server.call("GET", "/api/instances?definition_id=vans&total=true")["total"] == 0


def test_all_that_match_are_canceled_also_those_on_other_pages(studio: Studio, server: StudioServer) -> None:
    server.publish(sequence("crowd", {"id": "wait", "type": "Event", "inputs": {"event_name": "never"}}))
    server.call("POST", "/api/definitions/crowd/bulk-dispatch", {"requests": [{"input": {}}] * 53})
    studio.open("/instances?definition_id=crowd&status=suspended")
    page = studio.page
    expect(page.get_by_text("1–50 of 53")).to_be_visible()
    page.get_by_role("checkbox", name="Select all").check()
    tools = page.get_by_role("toolbar")
    expect(tools.get_by_text("50 instances selected")).to_be_visible()
    tools.get_by_role("button", name="Select all 53 matches").click()
    tools.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel 53 instances?")
    expect(dialog.get_by_text("checked again for each instance")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()

    expect(page.get_by_text("No matches")).to_be_visible()
    assert server.call("GET", "/api/instances?definition_id=crowd&status=canceled&total=true")["total"] == 53


def test_a_node_is_paused_and_takes_work_again(studio: Studio) -> None:
    studio.open("/nodes")
    page = studio.page
    page.get_by_role("button", name="Pause this node").click()
    page.get_by_role("button", name="Resume this node").click()
    expect(page.get_by_role("button", name="Pause this node")).to_be_visible()
    expect(page.get_by_role("button", name="Resume this node")).to_have_count(0)
