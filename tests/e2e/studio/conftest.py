"""Fixtures of the browser tests: a real server and a real browser. Without a browser the tests are skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.support.services.availability import ServiceMissing, is_required
from tests.support.studio import demo
from tests.support.studio.server import ADMIN, FLAGS, PASSWORD, StudioServer, chromium, served

TIMEOUT_MS = 20_000
"""Timeout of page assertions. Generous, because test machines may be busy."""

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Scoped to a module: while Playwright is open, an event loop is running in this thread, and no asynchronous test of
    another module could run."""
    try:
        program = chromium()
    except ServiceMissing as missing:
        if is_required("chromium"):
            pytest.fail(f"chromium is required here: {missing}", pytrace=False)
        pytest.skip(f"Studio in a browser: {missing}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    with served(tmp_path_factory.mktemp("studio")) as server:
        yield server


@pytest.fixture(scope="module")
def seeded(server: StudioServer) -> dict[str, str]:
    """Publishes example workflows, and returns the ids of some instances."""
    return demo.seed(server)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    # Without animation, so that a card is clicked at its final position. The animation has a test of its own.
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT_MS)
    context.add_init_script(
        "localStorage.setItem('holdfast.tour', 'done'); localStorage.setItem('holdfast.theme', 'light')"
    )
    yield context
    context.close()


class Studio:
    """A user of the Studio in a browser page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        # The browser logs every failed request. The tests check how the page handles it.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def sign_in(self, user: str = ADMIN, password: str = PASSWORD) -> None:
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("User").fill(user)
        dialog.get_by_label("Password").fill(password)
        dialog.get_by_role("button", name="Sign in").click()
        expect(dialog).to_be_hidden()

    def heading(self, name: str) -> None:
        expect(self.page.get_by_role("heading", name=name, level=1)).to_be_visible()

    def row(self, text: str) -> Any:
        return self.page.get_by_role("row").filter(has_text=text)

    def choose(self, row: str, command: str) -> None:
        """Selects a command from the menu of a row."""
        self.row(row).get_by_role("button", name="Actions").click()
        self.page.get_by_role("menuitem", name=command, exact=True).click()

    def serious(self, axe: str) -> list[str]:
        """Serious accessibility problems that axe finds on this page."""
        self.page.evaluate(axe)
        found = self.page.evaluate("async () => (await axe.run(document)).violations")
        return [
            f"{one['id']} ({one['impact']}): {node['html'][:160]}"
            for one in found
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]


@pytest.fixture
def guest(context: BrowserContext, server: StudioServer) -> Iterator[Studio]:
    """A user who is not signed in."""
    studio = Studio(context.new_page(), server.url)
    yield studio
    assert studio.errors == []


@pytest.fixture
def studio(guest: Studio) -> Studio:
    """The administrator, signed in."""
    guest.open("/definitions")
    guest.sign_in()
    return guest


@pytest.fixture(scope="session")
def axe(root: Path) -> str:
    file = root / "studio/node_modules/axe-core/axe.min.js"
    if not file.is_file():
        pytest.skip("axe-core is not installed: make studio")
    return file.read_text(encoding="utf-8")


@pytest.fixture
def document(root: Path) -> dict[str, Any]:
    text = (root / "examples/03_flowchart.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert isinstance(found, dict)
    return found
