"""Python in a child process, run from start to end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

PATIENCE = 100
"""Seconds; nothing is measured here."""

Holdfast = Callable[..., subprocess.CompletedProcess[str]]
"""`holdfast(*arguments, stdin=None)`: what the fixture of that name gives."""


def called(
    *arguments: str,
    folder: Path,
    environment: Mapping[str, str],
    stdin: str | None = None,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Runs `python …` in the folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        input=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
