"""Screenshots for `docs/studio/`: each page in light and dark theme, from a server with example data.

`make studio-pictures` rewrites them. They illustrate the docs; no test compares them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.studio_example import order
from tests.support.studio import demo
from tests.support.studio.server import ADMIN, FLAGS, PASSWORD, chromium, served

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "studio"
SIZE = {"width": 1280, "height": 800}
TIMEOUT_MS = 30_000


def pages(ids: dict[str, str]) -> dict[str, str]:
    return {
        "definitions": "/definitions",
        "designer": "/definitions/order",
        "versions": "/definitions/approval/versions",
        "instances": "/instances",
        "instance": f"/instances/{ids['waiting']}",
        "incident": f"/instances/{ids['broken']}?tab=incidents",
        "timeline": f"/instances/{ids['waiting']}?view=timeline&tab=variables",
        "tasks": "/tasks",
        "dashboard": "/dashboard",
        "schedules": "/schedules",
        "triggers": "/triggers",
        "dead-letters": "/dead-letters",
        "alterations": "/alterations",
        "nodes": "/nodes",
        "users": "/users",
        "roles": "/roles",
        "api-keys": "/api-keys",
        "settings": "/settings",
    }


def sign_in(page: Page, url: str) -> None:
    page.goto(url + "/definitions")
    page.get_by_label("User").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator("td a.name").first.wait_for()


def take(page: Page, url: str, path: str, file: Path) -> None:
    page.goto(url + path)
    page.locator("h1, .hf-designer").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file)


def run_dialog(page: Page, url: str, file: Path) -> None:
    page.goto(url + "/definitions")
    page.get_by_role("row").filter(has_text="Invoice approval").get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("dialog").wait_for()
    page.screenshot(path=file)


def sign_in_page(page: Page, url: str, file: Path) -> None:
    page.goto(url)
    page.get_by_role("dialog").wait_for()
    page.screenshot(path=file)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server, sync_playwright() as playwright:
        ids = demo.seed(server)
        server.call("POST", "/api/definitions", order())
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for theme in ("light", "dark"):
            context = browser.new_context(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type] # a plain dict of the two sizes
            context.set_default_timeout(TIMEOUT_MS)
            context.add_init_script(
                f"localStorage.setItem('holdfast.theme', '{theme}'); localStorage.setItem('holdfast.tour', 'done')"
            )
            page = context.new_page()
            sign_in_page(page, server.url, FOLDER / f"sign-in-{theme}.png")
            sign_in(page, server.url)
            for name, path in pages(ids).items():
                take(page, server.url, path, FOLDER / f"{name}-{theme}.png")
            run_dialog(page, server.url, FOLDER / f"run-{theme}.png")
            context.close()
        browser.close()
    print(f"{len(list(FOLDER.glob('*.png')))} pictures in {FOLDER}")


if __name__ == "__main__":
    main()
