"""Nothing in the repository knows a machine or a registry, and nothing is left lying about."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

FOREIGN = re.compile(
    "|".join(
        (
            r"(?<![\w.])/work/",
            r"(?<![\w.])/root/\.",  # `/root/activities/0` is a pointer into a document
            r"(?<![\w.])/home/\w",
            r"(?<![\w.])/opt/\w",
            "py" + r"pi\.org",
            "python" + "hosted",
            "registry" + r"\.npmjs",
        )
    )
)
TOP = {
    ".ci", ".editorconfig", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile",
    "README.md", "benchmarks",
    "constraints.txt", "docs", "examples", "pyproject.toml", "src", "studio", "tests",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(root: Path) -> list[Path]:
    """What git keeps or would keep."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip(f"not a git checkout: {listed.stderr.strip()}")
    return [root / line for line in listed.stdout.splitlines() if (root / line).is_file()]


def test_no_file_names_a_machine_or_a_registry(files: list[Path], root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        if path != Path(__file__) and path.suffix not in {".png", ".ico", ".woff2", ".gz", ".zstd"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FOREIGN.search(line)
    ]

    assert not found


def test_the_top_of_the_repository_holds_what_it_should(files: list[Path], root: Path) -> None:
    assert {path.relative_to(root).parts[0] for path in files} <= TOP
