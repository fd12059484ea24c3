"""Sign-in, expired sessions, and permissions."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.server import StudioServer


def test_a_wrong_password_is_said_and_the_right_one_lets_in(guest: Studio) -> None:
    guest.open("/")
    dialog = guest.page.get_by_role("dialog")
    dialog.get_by_label("User").fill("admin")
    dialog.get_by_label("Password").fill("not it")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.locator(".problem")).to_be_visible()

    guest.sign_in()

    guest.heading("Definitions")
    guest.page.reload()
    guest.heading("Definitions")


def test_a_lost_session_asks_again_and_loses_nothing(studio: Studio) -> None:
    page = studio.page
    page.get_by_role("button", name="New definition").first.click()
    page.get_by_label("Name", exact=False).first.fill("Half written")
    _lose_session(page)

    page.get_by_role("button", name="Create").click()

    again = page.get_by_role("dialog", name="Sign in again")
    expect(again).to_be_visible()
    again.get_by_label("User").fill("admin")
    again.get_by_label("Password").fill("harbour-lantern-42")
    again.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(studio.url + "/definitions/half-written")


def _lose_session(page: Page) -> None:
    """Makes the server reject the access and refresh token until the next sign-in."""

    def refuse(route: Route) -> None:
        route.fulfill(
            status=401, content_type="application/problem+json", body='{"title": "no", "status": 401, "code": "auth"}'
        )

    def signed_in(route: Route) -> None:
        page.unroute("**/api/definitions**")
        route.continue_()

    page.route("**/api/auth/refresh", refuse)
    page.route("**/api/definitions**", refuse)
    page.route("**/api/auth/login", signed_in)


def test_a_viewer_is_offered_nothing_that_is_not_allowed(guest: Studio, server: StudioServer) -> None:
    server.call("POST", "/api/users", {"user": "vera", "password": "only-looking-77", "roles": ["viewer"]})
    guest.open("/")
    guest.sign_in("vera", "only-looking-77")

    guest.heading("Definitions")
    expect(guest.page.get_by_role("link", name="Instances")).to_be_visible()
    expect(guest.page.get_by_role("button", name="New definition")).to_have_count(0)
    expect(guest.page.get_by_role("link", name="Users")).to_have_count(0)


def test_people_change_their_own_password(guest: Studio, server: StudioServer) -> None:
    server.call(
        "POST", "/api/users", {"user": "pia", "name": "Pia Berg", "password": "given-by-us-11", "roles": ["viewer"]}
    )
    guest.open("/")
    guest.sign_in("pia", "given-by-us-11")
    guest.page.get_by_role("button", name="Pia Berg", exact=True).click()
    dialog = guest.page.get_by_role("dialog", name="Change your password")
    dialog.get_by_label("Current password").fill("guessed-22")
    dialog.get_by_label("New password", exact=False).first.fill("my-own-words-33")
    dialog.get_by_label("Repeat new password").fill("my-own-words")
    expect(dialog.get_by_text("The passwords do not match.")).to_be_visible()
    dialog.get_by_label("Repeat new password").fill("my-own-words-33")
    dialog.get_by_role("button", name="Change").click()
    expect(dialog.get_by_role("alert")).to_contain_text("current password is wrong")

    dialog.get_by_label("Current password").fill("given-by-us-11")
    dialog.get_by_role("button", name="Change").click()
    expect(dialog).to_have_count(0)
    guest.heading("Definitions")
    guest.page.get_by_role("button", name="Sign out").click()
    guest.sign_in("pia", "my-own-words-33")


def test_a_worker_comes_to_the_tasks(guest: Studio, server: StudioServer) -> None:
    server.call("POST", "/api/users", {"user": "walt", "password": "hard-working-77", "roles": ["worker"]})
    guest.open("/")
    guest.sign_in("walt", "hard-working-77")

    expect(guest.page.get_by_role("link", name="Tasks")).to_be_visible()
    expect(guest.page.get_by_role("link", name="Definitions")).to_have_count(0)


def test_the_palette_goes_anywhere_by_a_few_letters(studio: Studio) -> None:
    studio.page.keyboard.press("Control+k")
    studio.page.keyboard.type("dead")
    studio.page.keyboard.press("Enter")

    studio.heading("Dead letters")
    studio.page.keyboard.press("g")
    studio.page.keyboard.press("i")
    studio.heading("Instances")


def test_light_and_dark_are_remembered(studio: Studio) -> None:
    studio.page.get_by_role("button", name="Dark theme").click()

    expect(studio.page.locator("html")).to_have_attribute("data-theme", "dark")
