"""Autosave without loss: two users, an expired session, an unreachable server, a closed page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.studio.conftest import TIMEOUT_MS, Studio
from tests.support.studio.designer import Designer, line, sequence
from tests.support.studio.server import StudioServer


@pytest.fixture
def designer(studio: Studio) -> Designer:
    return Designer(studio.page)


@pytest.fixture
def colleague(browser: Browser, server: StudioServer) -> Iterator[Studio]:
    """Another user in another browser context."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT_MS)
    context.add_init_script("localStorage.setItem('holdfast.tour', 'done')")
    other = Studio(context.new_page(), server.url)
    other.open("/definitions")
    other.sign_in()
    yield other
    context.close()
    assert other.errors == []


def texts(server: StudioServer, id: str) -> list[str]:
    return [
        one["inputs"]["text"] for one in server.call("GET", f"/api/definitions/{id}")["document"]["root"]["activities"]
    ]


def write(designer: Designer, card: str, text: str) -> None:
    designer.inspect(card)  # The field of another card looks the same.
    designer.field("text").fill(text)


@pytest.mark.parametrize("choice", ["Keep mine", "Use saved version"])
def test_when_two_save_the_second_one_decides(
    studio: Studio, designer: Designer, colleague: Studio, server: StudioServer, choice: str
) -> None:
    id = "shared-" + choice.split(maxsplit=1)[0].lower()
    server.call("POST", "/api/definitions", sequence(id, line("one"), line("two")))
    other = Designer(colleague.page)
    studio.open(f"/definitions/{id}")
    colleague.open(f"/definitions/{id}")
    expect(designer.card("One")).to_be_visible()
    expect(other.card("One")).to_be_visible()

    write(other, "Two", "theirs")
    other.saved()
    write(designer, "One", "mine")
    expect(studio.page.get_by_text("Save conflict")).to_be_visible()
    assert texts(server, id) == ["one", "theirs"]
    # Further edits during the conflict are neither lost nor saved.
    write(designer, "One", "mine at last")
    studio.page.get_by_role("button", name="Resolve").click()
    dialog = studio.page.get_by_role("dialog", name="This workflow was saved by another user")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_role("listitem").filter(has_text="Two")).to_contain_text("changed")
    dialog.get_by_role("button", name=choice).click()

    designer.saved()
    if choice == "Keep mine":
        assert texts(server, id) == ["mine at last", "two"]
    else:
        expect(designer.field("text")).to_have_count(0)
        designer.card("Two").click()
        expect(designer.field("text")).to_have_value("theirs")
        assert texts(server, id) == ["one", "theirs"]
    # Autosave continues afterwards.
    write(designer, "Two", "later")
    designer.saved()
    assert texts(server, id)[1] == "later"


def test_a_session_that_ends_during_an_edit_loses_nothing(guest: Studio, server: StudioServer) -> None:
    server.call("POST", "/api/users", {"user": "dora", "password": "drawing-along-55", "roles": ["designer"]})
    server.call("POST", "/api/definitions", sequence("ended", line("one")))
    guest.open("/definitions/ended")
    guest.sign_in("dora", "drawing-along-55")
    designer = Designer(guest.page)
    write(designer, "One", "before")
    designer.saved()

    # Locking a user revokes both tokens immediately.
    server.call("PATCH", "/api/users/dora", {"active": False})
    server.call("PATCH", "/api/users/dora", {"active": True, "password": "drawing-again-66"})
    write(designer, "One", "during")
    again = guest.page.get_by_role("dialog", name="Sign in again")
    expect(again).to_be_visible()
    assert texts(server, "ended") == ["before"]
    guest.sign_in("dora", "drawing-again-66")

    designer.saved()
    assert texts(server, "ended") == ["during"]
    expect(designer.field("text")).to_have_value("during")
    guest.page.keyboard.press("Escape")
    # The page was never left, so earlier edits can still be undone.
    designer.card("One").click()
    guest.page.keyboard.press("Control+z")
    expect(designer.field("text")).not_to_have_value("during")


def test_what_could_not_be_saved_is_offered_when_one_comes_back(
    studio: Studio, designer: Designer, server: StudioServer
) -> None:
    server.call("POST", "/api/definitions", sequence("away", line("one")))
    studio.open("/definitions/away")
    expect(designer.card("One")).to_be_visible()
    studio.page.route(
        "**/api/definitions/away", lambda route: route.abort() if route.request.method == "PUT" else route.continue_()
    )
    write(designer, "One", "written without a server")
    expect(studio.page.get_by_text("Not saved, retrying")).to_be_visible()
    # The saved version differs from the canvas, so it is not started.
    studio.page.get_by_role("button", name="Run", exact=True).click()
    expect(studio.page.get_by_text("the workflow was not started")).to_be_visible()
    expect(studio.page.get_by_role("dialog")).to_have_count(0)
    studio.page.on("dialog", lambda dialog: dialog.accept())
    studio.open("/settings")

    studio.page.unroute("**/api/definitions/away")
    # Another user has saved since: restoring the draft must not overwrite it silently.
    server.call("PUT", "/api/definitions/away", sequence("away", line("one", "by another")))
    studio.open("/definitions/away")
    dialog = studio.page.get_by_role("dialog", name="Unsaved changes")
    dialog.get_by_role("button", name="Restore changes").click()
    expect(studio.page.get_by_text("Save conflict")).to_be_visible()
    assert texts(server, "away") == ["by another"]
    studio.page.get_by_role("button", name="Resolve").click()
    studio.page.get_by_role("dialog").get_by_role("button", name="Keep mine").click()
    designer.saved()
    assert texts(server, "away") == ["written without a server"]

    studio.page.reload()
    expect(designer.card("One")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_a_viewer_looks_and_changes_nothing(guest: Studio, server: StudioServer) -> None:
    server.call("POST", "/api/users", {"user": "vito", "password": "only-looking-88", "roles": ["viewer"]})
    server.publish(sequence("looked-at", line("one"), {"id": "wait", "type": "Event", "inputs": {"event_name": "x"}}))
    instance = server.execute("looked-at")["instance_id"]
    guest.open("/definitions/looked-at")
    guest.sign_in("vito", "only-looking-88")
    page, designer = guest.page, Designer(guest.page)

    expect(page.get_by_text("Your roles allow you to view this workflow, but not to change it.")).to_be_visible()
    designer.card("One").click()
    expect(designer.field("text")).to_have_attribute("readonly", "")
    for name in ("Publish", "Run", "Undo"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(designer.inspector.get_by_text("Test activity")).to_have_count(0)
    page.keyboard.press("Delete")
    expect(designer.card("One")).to_be_visible()

    for path in ("/definitions", "/instances", f"/instances/{instance}", "/schedules", "/dead-letters", "/alterations"):
        guest.open(path)
        expect(page.locator("h1")).to_be_visible()
        page.wait_for_load_state("networkidle")
        for name in ("Cancel", "Retry", "Delete", "Import", "New plan", "Run now", "Skip"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    guest.open("/definitions")
    page.get_by_role("row").filter(has_text="looked-at").get_by_role("button", name="Actions").click()
    for name in ("Run", "Publish", "Delete", "Duplicate", "Labels and folder", "Retract"):
        expect(page.get_by_role("menuitem", name=name, exact=True)).to_have_count(0)
    expect(page.get_by_role("menuitem", name="Versions")).to_be_visible()
    guest.open("/tasks")
    guest.open(f"/instances/{instance}?tab=details")
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)
