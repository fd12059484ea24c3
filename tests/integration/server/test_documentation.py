"""The documentation site beside the Studio and the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine import Holdfast

from .conftest import Serve


@pytest.fixture
def site(tmp_path: Path) -> str:
    (tmp_path / "index.html").write_text("<h1>Guide</h1>", encoding="utf-8")
    return str(tmp_path)


@pytest.mark.parametrize("base", ["", "/flows"])
async def test_the_site_is_served_beside_studio_and_api(serve: Serve, site: str, base: str) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, docs_dir=site), base_path=base, studio=True)

    page = await api.ask("GET", f"{base}/docs")
    assert (page.status, page.body) == (200, b"<h1>Guide</h1>")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["x-frame-options"] == "DENY"
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert (await api.get(f"{base}/docs/gone.html", expect=404))["code"] == "route.not_found"
    assert (await api.post(f"{base}/docs/index.html", expect=405))["code"] == "method.not_allowed"
    assert (await api.get(f"{base}/api/openapi.json"))["openapi"].startswith("3.1")
    assert b"Guide" not in await api.get(f"{base}/definitions")


async def test_without_the_setting_there_is_no_site(serve: Serve) -> None:
    api = await serve(studio=False)

    assert (await api.get("/docs/", expect=404))["code"] == "route.not_found"
