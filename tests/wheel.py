"""`make wheel`: what people install. Wheel and source archive are built, each is installed into an empty environment of its own,
and `holdfast serve` from there must show the Studio and run a workflow; no Node, no checkout.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HELLO: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "hello",
    "root": {"type": "WriteLine", "id": "say", "inputs": {"text": "hello"}},
}


def main() -> int:
    dist = ROOT / "dist"
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(dist)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for pattern in ("*.whl", "*.tar.gz"):
        package = max(dist.glob(pattern), key=lambda path: path.stat().st_mtime)
        with TemporaryDirectory() as folder:
            check(package, Path(folder))
        sys.stdout.write(f"{package.name}: installed, served the Studio, ran a workflow\n")
    return 0


def check(package: Path, folder: Path) -> None:
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), f"{package}[server]"], check=True)
    (folder / "hello.json").write_text(json.dumps(HELLO), encoding="utf-8")
    serve = [str(programs / "holdfast"), "serve", "hello.json", "--port", "0", "--no-auth", "--store", "memory://"]
    process = subprocess.Popen(
        serve, cwd=folder, stdout=subprocess.PIPE, text=True, env={"PATH": "", "HOME": str(folder)}
    )
    try:
        ask(process)
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0, f"it ended with {process.returncode}"


def ask(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    said = process.stdout.readline()
    address = re.search(r"http://\S+", said)
    assert address is not None, f"it said: {said!r}"
    page = fetch(f"{address[0]}/").decode()
    script = re.search(r'src="\.?/?(assets/[^"]+\.js)"', page)
    assert script is not None, f"no Studio: {page[:200]}"
    assert len(fetch(f"{address[0]}/{script[1]}")) > 1_000
    ended = json.loads(fetch(f"{address[0]}/api/definitions/hello/execute", b"{}"))
    assert ended["status"] == "finished", ended


def fetch(url: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        found: bytes = response.read()
        return found


if __name__ == "__main__":
    sys.exit(main())
