"""The command as a stranger calls it: another process, in a folder with some workflows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"
COMMAND = [sys.executable, "-W", "error", "-m", "holdfast.cli"]

Holdfast = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in FIXTURES.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    return tmp_path


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def command() -> list[str]:
    return list(COMMAND)


@pytest.fixture
def holdfast(folder: Path, environment: dict[str, str]) -> Holdfast:
    """Runs `holdfast …` there."""

    def call(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=folder,
            env=environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=100,
        )

    return call
