"""Every block of code in the README and in the guides runs.

The blocks of a page run in order, in a folder of their own. A block with `file=NAME` after its language is written
there under that name first. `python` runs as a script, `bash` line by line (`holdfast …` and `python …`; of `make …`
only the target is looked up), `json` must be JSON, `py` (code of others) must be Python. A `text` block right after is
what the block before it prints.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "docs/quickstart.md",
    "docs/json.md",
    "docs/middleware.md",
    "docs/plugins.md",
    "docs/storage.md",
    "docs/dispatching.md",
    "docs/plain-python.md",
    "docs/transports.md",
    "docs/workers.md",
    "docs/time.md",
    "docs/tutorial.md",
    "docs/human-tasks.md",
    "docs/operating.md",
    "docs/production.md",
    "docs/http-workflows.md",
    "docs/security.md",
    "docs/server.md",
    "docs/telemetry.md",
    "docs/coming-from/celery.md",
    "docs/coming-from/dbos.md",
    "docs/coming-from/prefect.md",
    "docs/coming-from/temporal.md",
]
BLOCK = re.compile(r"^```(?P<language>\w+)(?: file=(?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND_LINE = "import sys; sys.argv[0] = 'holdfast'; from holdfast.cli import main; sys.exit(main())"
COMMANDS = {"holdfast": ["-c", COMMAND_LINE], "python": []}


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    file: str | None
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["file"], found["text"], text.count("\n", 0, found.start()) + 1)
        for found in BLOCK.finditer(text)
    ]


def run_python(folder: Path, arguments: list[str]) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert run.returncode == 0, f"{shlex.join(arguments)}\n{run.stdout}{run.stderr}"
    return run.stdout


def run_line(folder: Path, line: str) -> str:
    words = shlex.split(line, comments=True)
    if not words:
        return ""
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE) for target in words[1:]), line
        return ""
    if words[0] in {"git", "cd", "pip"}:
        return ""
    assert words[0] in COMMANDS, f"a command that this test does not know: {line}"
    return run_python(folder, [*COMMANDS[words[0]], *words[1:]])


def run_block(folder: Path, block: Block) -> str:
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    match block.language:
        case "python":
            script = folder / (block.file or "block.py")
            script.write_text(block.text, encoding="utf-8")
            return run_python(folder, [script.name])
        case "bash":
            lines = block.text.replace("\\\n", " ").splitlines()
            return "".join(run_line(folder, line) for line in lines)
        case "json":
            json.loads(block.text)
            return ""
        case "yaml":
            yaml.safe_load(block.text)
            return ""
        case "py":
            ast.parse(block.text)
            return ""
        case "toml" | "mermaid" | "text":
            return ""
        case language:
            pytest.fail(f"line {block.line}: no way to run a block of {language}")


@pytest.mark.parametrize("name", PAGES)
def test_blocks_of_page_run(name: str, tmp_path: Path) -> None:
    printed = ""
    blocks = blocks_of(ROOT / name)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks:
        if block.language == "text":
            assert printed == block.text, f"{name}, line {block.line}"
        printed = run_block(tmp_path, block)
