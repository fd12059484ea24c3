"""The policy and the addresses of a documentation site."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from holdfast.errors import SettingsError
from holdfast.server.documentation import documentation_routes

PAGE = '<script>palette()</script><script src="a.js"></script><script id="c" type="application/json">{}</script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "assets").mkdir(parents=True)
    (site / "index.html").write_text(PAGE, encoding="utf-8")
    (site / "assets/app.js").write_text("plain", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not for you", encoding="utf-8")
    (tmp_path / "site-private").mkdir()
    (tmp_path / "site-private/secret.txt").write_text("not for you", encoding="utf-8")
    (site / "link.txt").symlink_to(tmp_path / "secret.txt")
    return site


async def get(folder: Path, path: str, *, method: str = "GET", root: str = "") -> httpx.Response:
    transport = httpx.ASGITransport(Starlette(routes=documentation_routes(folder)), root_path=root)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        return await client.request(method, root + path)


def source_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


async def test_a_page_may_run_its_own_inline_scripts_and_no_others(folder: Path) -> None:
    page = await get(folder, "/docs/")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))

    assert page.text == PAGE
    assert page.headers["content-type"].startswith("text/html")
    assert policy["script-src"].split() == ["'self'", source_hash("palette()"), source_hash("{}")]
    assert policy["default-src"] == "'self'"


async def test_the_policy_follows_a_page_that_was_built_again(folder: Path) -> None:
    first = await get(folder, "/docs/index.html")
    (folder / "index.html").write_text("<script>other()</script>", encoding="utf-8")
    os.utime(folder / "index.html", ns=(1, 1))
    second = await get(folder, "/docs/index.html")

    assert source_hash("other()") not in first.headers["content-security-policy"]
    assert source_hash("other()") in second.headers["content-security-policy"]


async def test_the_bare_address_leads_to_the_index(folder: Path) -> None:
    assert (await get(folder, "/docs")).headers["location"] == "/docs/"
    assert (await get(folder, "/docs", root="/flows")).headers["location"] == "/flows/docs/"
    assert (await get(folder, "/docs/", root="/flows")).text == PAGE


async def test_files_have_their_type_and_are_revalidated(folder: Path) -> None:
    script = await get(folder, "/docs/assets/app.js")

    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "no-cache"
    assert "etag" in script.headers


@pytest.mark.parametrize("path", ["/docs/gone.html", "/docs/assets", "/docs/assets/", "/docs/index.html/x"])
async def test_unknown_pages_and_folders_are_404(folder: Path, path: str) -> None:
    assert (await get(folder, path)).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../secret.txt",
        "/docs/%2e%2e/secret.txt",
        "/docs/assets/%2e%2e/%2e%2e/secret.txt",
        "/docs/%2e%2e/site-private/secret.txt",
        "/docs//etc/passwd",
        "/docs/link.txt",
    ],
)
async def test_no_address_leads_out_of_the_folder(folder: Path, path: str) -> None:
    answer = await get(folder, path)

    assert answer.status_code == 404
    assert "not for you" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_the_site_is_read_only(folder: Path, method: str) -> None:
    assert (await get(folder, "/docs/index.html", method=method)).status_code == 405


def test_a_folder_without_a_site_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="make site"):
        documentation_routes(tmp_path)
