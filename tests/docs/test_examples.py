"""Every example runs and prints what stands beside it.

`examples/NAME.py` runs with Python, `examples/NAME.json` with `holdfast run` (further arguments in `NAME.args`);
`NAME.out` is what it prints.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMAND_LINE = "import sys; sys.argv[0] = 'holdfast'; from holdfast.cli import main; sys.exit(main())"
"""The `holdfast` command, with this interpreter's switches."""
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".json"})


def command(example: Path) -> list[str]:
    if example.suffix == ".py":
        return [sys.executable, "-W", "error", example.name]
    given = example.with_suffix(".args")
    further = shlex.split(given.read_text(encoding="utf-8")) if given.exists() else []
    return [sys.executable, "-W", "error", "-c", COMMAND_LINE, "run", example.name, *further]


@pytest.mark.parametrize("name", NAMES)
def test_example_prints_what_it_should(name: str) -> None:
    example = EXAMPLES / name

    run = subprocess.run(command(example), cwd=EXAMPLES, capture_output=True, text=True, check=False, timeout=100)

    assert run.returncode == 0, run.stderr
    report = [line for line in run.stderr.splitlines() if not line.startswith(("finished  instance ", "  output "))]
    assert not report
    assert run.stdout == example.with_suffix(".out").read_text(encoding="utf-8")


def test_no_output_stands_without_its_example() -> None:
    examples = {Path(name).stem for name in NAMES}

    assert examples
    assert {path.stem for path in EXAMPLES.glob("*.out")} == examples
