"""One version number: `holdfast.__version__`. The package metadata, the OpenAPI document and the change log follow it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import holdfast


def test_the_version_is_semantic() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", holdfast.__version__)


def test_the_package_metadata_takes_the_version_from_the_source(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "metadata", "version"], cwd=root, capture_output=True, text=True, check=True
    )

    assert "version" in project["dynamic"]
    assert "version" not in project
    assert built.stdout.strip() == holdfast.__version__


def test_the_openapi_document_has_the_same_version(root: Path) -> None:
    document = json.loads((root / "studio/openapi.json").read_text(encoding="utf-8"))

    assert document["info"]["version"] == holdfast.__version__


def test_the_studio_has_no_version_of_its_own(root: Path) -> None:
    package = json.loads((root / "studio/package.json").read_text(encoding="utf-8"))
    lock = json.loads((root / "studio/package-lock.json").read_text(encoding="utf-8"))

    assert package["private"] is True
    assert "version" not in package
    assert "version" not in lock
    assert "version" not in lock["packages"][""]


def test_no_other_module_states_the_version(root: Path) -> None:
    stated = f'"{holdfast.__version__}"'
    found = [
        path.relative_to(root).as_posix()
        for path in sorted((root / "src").rglob("*.py"))
        if stated in path.read_text(encoding="utf-8")
    ]

    assert found == ["src/holdfast/__init__.py"]
