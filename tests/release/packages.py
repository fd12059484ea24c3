"""Wheel and sdist, built and checked: each is installed into an empty environment, and `holdfast serve` from there must show
the Studio and run a workflow, without Node and without the checkout. `make wheel` runs this module.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.environment import ROOT

DIST = ROOT / "dist"
HELLO: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "hello",
    "root": {"type": "WriteLine", "id": "say", "inputs": {"text": "hello"}},
}


def build() -> list[Path]:
    """The wheel and the sdist of the current version, in `dist`."""
    before = {path: path.stat().st_mtime_ns for path in DIST.glob("holdfast-*")}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(DIST)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return sorted(
        path
        for pattern in ("holdfast-*.whl", "holdfast-*.tar.gz")
        for path in DIST.glob(pattern)
        if path.stat().st_mtime_ns != before.get(path)
    )


def check(package: Path, site: Path | None = None) -> str:
    """Install the package into an empty environment and use it; gives the version that it reports. With `site`, the server
    must also serve that documentation."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        programs = _installed(package, folder)
        docs = [] if site is None else ["--docs", str(site)]
        _serve(programs, folder, docs)
        version = subprocess.run(
            [str(programs / "holdfast"), "--version"], cwd=folder, capture_output=True, text=True, check=True
        )
        return version.stdout.split()[-1]


def _installed(package: Path, folder: Path) -> Path:
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), f"{package}[server]"], check=True)
    return programs


def _serve(programs: Path, folder: Path, options: Sequence[str]) -> None:
    (folder / "hello.json").write_text(json.dumps(HELLO), encoding="utf-8")
    command = [str(programs / "holdfast"), "serve", "hello.json", "--port", "0", "--no-auth", "--store", "memory://"]
    environment = {"PATH": "", "HOME": str(folder)}
    process = subprocess.Popen([*command, *options], cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        _use(process, has_docs=bool(options))
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0, f"the server ended with {process.returncode}"


def _use(process: subprocess.Popen[str], *, has_docs: bool) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.search(r"http://\S+", line)
    assert address is not None, f"the server printed: {line!r}"
    page = _fetch(f"{address[0]}/").decode()
    script = re.search(r'src="\.?/?(assets/[^"]+\.js)"', page)
    assert script is not None, f"no Studio: {page[:200]}"
    assert len(_fetch(f"{address[0]}/{script[1]}")) > 1_000
    ended = json.loads(_fetch(f"{address[0]}/api/definitions/hello/execute", b"{}"))
    assert ended["status"] == "finished", ended
    if has_docs:
        assert b"Holdfast" in _fetch(f"{address[0]}/docs/")


def _fetch(url: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        found: bytes = response.read()
        return found


def main() -> None:
    for package in build():
        version = check(package)
        sys.stdout.write(f"{package.name}: installed {version}, served the Studio, ran a workflow\n")


if __name__ == "__main__":
    main()
