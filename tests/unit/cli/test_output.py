"""Streams that are closed, full or gone, and terminals that are narrow: one line at most, and the right exit code."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.tables import show_table

SCRIPT = "from holdfast.cli import main; main()"


def ended(*arguments: str, folder: Path, redirect: str) -> tuple[int, str]:
    command = f'exec "$0" -c "$1" "${{@:2}}" {redirect}'
    told = subprocess.run(
        ["bash", "-c", command, sys.executable, SCRIPT, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOLDFAST_STORE": "sqlite:///kept.db"},
    )
    return told.returncode, told.stderr


@pytest.mark.parametrize("arguments", [["schema"], ["migrate"], ["--help"], ["activities"], ["run", "--help"]])
def test_a_stream_that_is_closed_is_no_failure(tmp_path: Path, arguments: list[str]) -> None:
    assert ended(*arguments, folder=tmp_path, redirect=">&-") == (0, "")


def test_no_database_is_taken_for_a_closed_stream(tmp_path: Path) -> None:
    ended("migrate", folder=tmp_path, redirect=">&- 2>&- <&-")

    assert ended("migrate", "--check", folder=tmp_path, redirect="") == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has it")
@pytest.mark.parametrize("arguments", [["schema"], ["migrate"], ["--help"], ["run", "--help"]])
def test_a_full_disk_is_told_in_one_line(tmp_path: Path, arguments: list[str]) -> None:
    code, told = ended(*arguments, folder=tmp_path, redirect=">/dev/full")

    assert code == 2
    assert told.count("\n") == 1
    assert "No space left on device" in told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["20", "40", "60", "200"])
def test_a_narrow_terminal_loses_no_column(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    names = ("id", "name", "published", "latest", "origin", "labels", "updated")

    show_table(names, [("hello", "Hello", "v1", "v2", "file", "demo", "yesterday")])

    assert all(word in terminal.getvalue() for word in (*names, "yesterday", "demo"))
