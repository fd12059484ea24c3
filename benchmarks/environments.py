"""Environments under `.bench/` for packages of other projects, isolated from the dependencies of Holdfast."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.figures import Unmeasurable

PLACE = Path(__file__).resolve().parent.parent / ".bench"


def environment(name: str, *packages: str) -> Path:
    """The interpreter of the environment, which is created on first use."""
    home = PLACE / name
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = home / ".ready"
    wanted = "\n".join(packages)
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    print(f"Creating the environment '{name}' with {', '.join(packages)} …", file=sys.stderr)
    venv.create(home, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unmeasurable(f"{', '.join(packages)} could not be installed: {reason}")
    ready.write_text(wanted, encoding="utf-8")
    return python


def version_of(python: Path, package: str) -> str:
    program = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()
