"""The architecture page names files that exist, and each walk names files that really run on its path."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FILE = re.compile(r"`([a-z_0-9/]+\.py)`")
STEP = re.compile(r"\*\*`([a-z_0-9/]+\.py)`\*\*")
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
WALKS = {"Start": "start", "Event": "event", "Step": "step", "HTTP request": "http"}


@pytest.fixture(scope="module")
def sections(root: Path) -> dict[str, str]:
    return dict(SECTION.findall((root / "docs/architecture.md").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def executed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("walks")
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.walks", str(folder)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, list[str]] = json.loads(run.stdout)
    return found


def test_the_files_that_the_page_names_exist(root: Path, sections: dict[str, str]) -> None:
    named = {name for text in sections.values() for name in FILE.findall(text)}

    assert len(named) > 40
    assert not {name for name in named if not (root / "src/holdfast" / name).is_file()}


@pytest.mark.parametrize("section", WALKS)
def test_the_files_of_a_walk_run_on_its_path(
    section: str, sections: dict[str, str], executed: dict[str, list[str]]
) -> None:
    named = STEP.findall(sections[section]) + STEP.findall(sections["The commit path"])

    assert len(named) > 12
    assert not set(named) - set(executed[WALKS[section]]), "these files do not run on this path: correct the walk"
