"""Plugins found by their entry point, and the Studio on an origin of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.e2e.studio.conftest import Studio
from tests.support.studio.designer import Designer
from tests.support.studio.server import BUILT, StudioServer, served

SHADES = Path(__file__).parent / "fixtures" / "shades"


@pytest.fixture(scope="module")
def painted(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """A server with an installed plugin."""
    folder = tmp_path_factory.mktemp("painted")
    installed = folder / "shades-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: shades\nVersion: 1.0\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text("[holdfast.plugins]\nshades = shades_plugin:plugin\n", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(SHADES), os.environ.get("PYTHONPATH", "")])
    with served(folder, PYTHONPATH=path) as server:
        server.publish(
            {
                "format": "holdfast/definition@1",
                "id": "wall",
                "name": "Wall",
                "root": {"id": "paint", "type": "Paint", "inputs": {"colour": "#112233"}},
            }
        )
        yield server


def test_a_plugin_brings_an_editor_panels_a_page_and_a_language(context: BrowserContext, painted: StudioServer) -> None:
    studio = Studio(context.new_page(), painted.url)
    studio.open("/plugins/shades")
    studio.sign_in()
    expect(studio.page.get_by_text("1 definitions seen by a plugin")).to_be_visible()

    instance = painted.execute("wall")["instance_id"]
    studio.open(f"/instances/{instance}")
    studio.page.get_by_role("tab", name="Shades").click()
    expect(studio.page.get_by_text("A panel about wall")).to_be_visible()

    studio.open("/definitions/wall")
    studio.page.locator(".react-flow__node").first.click()
    shade = studio.page.get_by_label("Colour (shade)")
    expect(shade).to_have_value("#112233")
    # An unknown hint falls back to the schema: a number.
    expect(studio.page.get_by_label("Depth", exact=True)).to_be_visible()
    shade.fill("#445566")
    designer = Designer(studio.page)
    designer.saved()
    saved = painted.call("GET", "/api/definitions/wall")["document"]
    assert saved["root"]["inputs"]["colour"] == "#445566"

    kinds = designer.inspector.get_by_label("Colour: kind of value")
    expect(kinds.get_by_role("option", name="Mixed colours")).to_have_count(1)
    designer.code("Colour", "red+blue", "mixed")
    expect(designer.inspector.locator(".hf-preview")).to_have_text('="purple"')
    designer.saved()
    designer.nothing()
    expect(designer.section("Palette")).to_contain_text("The palette of wall")
    assert studio.errors == []


class Elsewhere(SimpleHTTPRequestHandler):
    """Serves only the built files, like any static web server."""

    def do_GET(self) -> None:
        if self.path != "/config.json" and not Path(self.translate_path(self.path)).is_file():
            self.path = "/index.html"
        super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Writes no log into the test output."""


@pytest.fixture
def elsewhere(browser: Browser, tmp_path: Path) -> Iterator[tuple[str, StudioServer]]:
    """The Studio on another origin than its server, with CORS configured."""
    site = tmp_path / "site"
    site.mkdir()
    for entry in BUILT.parent.iterdir():
        (site / entry.name).symlink_to(entry)
    host = ThreadingHTTPServer(("127.0.0.1", 0), partial(Elsewhere, directory=str(site)))
    thread = Thread(target=host.serve_forever)
    thread.start()
    origin = f"http://127.0.0.1:{host.server_port}"
    try:
        with served(tmp_path, HOLDFAST_CORS_ORIGINS=origin) as server:
            (site / "config.json").write_text(json.dumps({"api": server.url}), encoding="utf-8")
            yield origin, server
    finally:
        host.shutdown()
        thread.join()
        host.server_close()


def test_the_same_build_runs_on_another_origin(context: BrowserContext, elsewhere: tuple[str, StudioServer]) -> None:
    origin, server = elsewhere
    studio = Studio(context.new_page(), origin)
    studio.open("/definitions")
    studio.sign_in()
    studio.heading("Definitions")
    server.publish(
        {
            "format": "holdfast/definition@1",
            "id": "far",
            "name": "Far away",
            "root": {"id": "line", "type": "WriteLine", "inputs": {"text": "hello"}},
        }
    )

    studio.open("/definitions/far")
    studio.page.get_by_role("button", name="Run", exact=True).click()
    studio.page.get_by_role("dialog").get_by_role("button", name="Run", exact=True).click()

    studio.heading("Far away")
    expect(studio.page.get_by_text("Live", exact=True)).to_be_visible()
    assert studio.errors == []
