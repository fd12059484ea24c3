"""The command as a stranger calls it: another process, in a folder with some workflows."""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.python_process import Holdfast, called

FIXTURES = Path(__file__).parent / "fixtures"
COMMAND = ["-W", "error", "-m", "holdfast.cli"]


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
    """For tests that start the process themselves."""
    return [sys.executable, *COMMAND]


@pytest.fixture
def holdfast(folder: Path, environment: dict[str, str]) -> Holdfast:
    """Runs `holdfast …` there."""
    return partial(called, *COMMAND, folder=folder, environment=environment)
