"""The documentation site builds strictly from the repository's Markdown, and needs no other host."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build_site", root / "docs/build_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target: Path = tmp_path_factory.mktemp("docs")
    assert builder.build(target) == 0, "the messages of MkDocs above name the page"
    return target / "site"


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    """A copy of everything that the site is built from."""
    made = tmp_path / "copied"
    for name in ("docs", "examples"):
        shutil.copytree(root / name, made / name)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(root / name, made / name)
    return made


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))

    assert len(pages) > 60
    assert not [f"{page.name}: {found}" for page in pages for found in LOADED.findall(page.read_text(encoding="utf-8"))]


def test_search_finds_guides_reference_and_decisions(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}

    assert {"tutorial.html", "reference/settings.html", "adr/0001-record-decisions.html", "index.html"} <= pages


def test_the_file_of_a_code_block_is_its_title(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")

    assert '<span class="filename">orders.py</span>' in page
    assert "```" not in re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)


def test_links_of_the_readme_lead_to_pages_of_the_site(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")

    assert 'href="tutorial.html"' in page
    assert 'href="storage.html#which-store"' in page
    assert 'href="examples/index.html"' in page
    assert not re.search(r'href="[^"]*\.md["#]', page)


@pytest.mark.parametrize("link", ["docs/gone.md", "docs/tutorial.md#gone", "gone.md"])
def test_a_broken_link_fails_the_build(builder: ModuleType, copied: Path, tmp_path: Path, link: str) -> None:
    with (copied / "README.md").open("a", encoding="utf-8") as readme:
        readme.write(f"\n[broken]({link})\n")

    assert builder.build(tmp_path / "target", copied) != 0


def test_a_page_outside_the_navigation_fails_the_build(builder: ModuleType, copied: Path, tmp_path: Path) -> None:
    (copied / "docs/lonely.md").write_text("# Lonely\n", encoding="utf-8")

    assert builder.build(tmp_path / "target", copied) != 0
