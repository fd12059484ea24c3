"""The commands that print: help, validate, schema, convert, graph, activities."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result

from holdfast import __version__
from holdfast.cli import terminal_run
from holdfast.cli.commands import COMMANDS
from holdfast.model.reader import read_definition

Call = Callable[..., Result]

FIXTURES = Path(__file__).parents[2] / "e2e" / "fixtures"


def fixture(name: str) -> str:
    return str(FIXTURES / name)


def loaded_by(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom holdfast.cli import main\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\n'.join(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100)
    return set(run.stdout.split())


def test_version(call: Call) -> None:
    assert call("--version").stdout.strip().endswith(__version__)


def test_without_a_command_it_shows_what_there_is(call: Call) -> None:
    result = call()

    assert result.exit_code == 0
    assert all(f"  {name} " in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(call: Call, name: str) -> None:
    result = call(name, "--help")

    assert result.exit_code == 0
    assert f"Example:\n    holdfast {name} " in result.stdout


def test_help_loads_no_engine() -> None:
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        loaded = loaded_by(*arguments)
        assert "holdfast.cli.commands" in loaded
        assert not loaded & {"holdfast.engine", "holdfast.elsa", "asyncio", "rich", "quickjs"}


def test_run_loads_no_drawing_and_no_tables() -> None:
    loaded = loaded_by("run", fixture("delay.json"), "--auto-resume")

    assert "holdfast.engine" in loaded
    assert not loaded & {"rich", "quickjs", "liquid", "sqlite3", "holdfast.model.diagram", "holdfast.model.schema"}


def test_validate_tells_all_problems_on_stderr(call: Call) -> None:
    result = call("validate", fixture("three_problems.json"), fixture("approval.json"))

    problems = [line for line in result.stderr.splitlines() if ": error: " in line]
    assert result.exit_code == 2
    assert [line.split(": ")[1] for line in problems] == [
        "/root/activities/0/type",
        "/root/activities/1/inputs/txt",
        "/root/activities/2/inputs/condition",
    ]
    assert result.stdout == f"{fixture('approval.json')}: valid\n"


def test_problems_are_a_table_on_a_terminal() -> None:
    reader, writer = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "validate", fixture("three_problems.json")],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=writer,
    ) as process:
        os.close(writer)
        shown = b""
        try:
            while chunk := os.read(reader, 10_000):
                shown += chunk
        except OSError:  # how Linux tells that the other side of a terminal is closed
            pass
        os.close(reader)

    assert process.returncode == 2
    assert b"remedy" in shown
    assert b"\x1b[31merror" in shown


def test_schema_knows_the_activities(call: Call, folder: Path) -> None:
    printed = json.loads(call("schema").stdout)
    call("schema", "-o", "schema.json")

    assert "activity.WriteLine" in printed["$defs"]
    assert json.loads((folder / "schema.json").read_text(encoding="utf-8")) == printed


def test_convert_there_and_back(call: Call, folder: Path) -> None:
    original = json.loads((FIXTURES / "elsa_fork.json").read_text(encoding="utf-8"))

    ours = call("convert", fixture("elsa_fork.json"), "-o", "ours.json")
    back = call("convert", "ours.json")

    definition, problems = read_definition(json.loads((folder / "ours.json").read_text(encoding="utf-8")))
    assert (ours.exit_code, ours.output, problems) == (0, "", [])
    assert definition is not None
    assert definition.id == "greeting-fork"
    assert json.loads(back.stdout) == original


def test_convert_reports_what_does_not_carry_over(call: Call) -> None:
    result = call("convert", fixture("approval.json"), "--to", "elsa")

    assert result.exit_code == 0
    assert "warning" in result.stderr
    assert json.loads(result.stdout)["definitionId"] == "approval"


def test_a_definition_in_yaml_is_like_one_in_json(call: Call, folder: Path) -> None:
    (folder / "hello.yaml").write_text(
        "id: hello\nroot:\n  type: WriteLine\n  inputs:\n    text: {$python: \"'a' + 'b'\"}\n"
    )

    assert call("validate", "hello.yaml").stdout == "hello.yaml: valid\n"
    assert call("run", "hello.yaml").stdout == "ab\n"
    assert json.loads(call("convert", "hello.yaml", "--to", "holdfast").stdout)["id"] == "hello"
    assert call("import", "hello.yaml", "--store", "sqlite:///yaml.db").exit_code == 0


def test_a_folder_is_imported_with_all_below_it_or_not_at_all(call: Call, folder: Path) -> None:
    below = folder / "flows" / "billing"
    below.mkdir(parents=True)
    store = ("--store", "sqlite:///folder.db")
    (folder / "flows" / "hello.yaml").write_text("format: holdfast/definition@1\nid: hello\nroot: {type: WriteLine}\n")
    (below / "invoice.json").write_text(Path(fixture("approval.json")).read_text())
    (below / "notes.txt").write_text("no definition")
    (folder / "nothing").mkdir()

    (below / "zone.json").write_text('{"format": "holdfast/definition@1", "id": "zone"}')
    refused = call("import", "flows", *store)
    (below / "zone.json").unlink()
    imported = call("import", "flows", *store)
    empty = call("import", "nothing", *store)

    assert refused.exit_code == 2
    assert "zone.json" in refused.stderr
    assert imported.exit_code == 0, imported.output
    assert [line.split()[0] for line in imported.stdout.splitlines()] == ["approval", "hello"]
    assert imported.stdout.count(": imported\n") == 2  # so nothing was written by the one that was refused
    assert (empty.exit_code, "'nothing'" in empty.stderr, ".yaml" in empty.stderr) == (2, True, True)


def test_graph_as_mermaid_and_svg(call: Call, folder: Path) -> None:
    mermaid = call("graph", fixture("approval.json")).stdout
    svg = call("graph", fixture("approval.json"), "--format", "svg").stdout
    call("graph", fixture("approval.json"), "-o", "drawn.svg")

    assert mermaid.startswith("flowchart TD\n")
    assert ET.fromstring(svg).tag.endswith("svg")
    assert (folder / "drawn.svg").read_text(encoding="utf-8").strip() == svg.strip()


def test_activities_as_lines_and_as_data(call: Call) -> None:
    lines = call("activities").stdout.splitlines()
    data = {item["type"]: item for item in json.loads(call("activities", "--json").stdout)}

    assert lines[0].split() == ["type", "kind", "category", "inputs", "ports", "outcomes"]
    assert next(line for line in lines if line.startswith("FlowDecision")).endswith("True, False")
    assert data["WriteLine"]["kind"] == "pure"
    assert len(data) == len(lines) - 1


def test_auto_resume_gives_up_in_the_end(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_run, "RESUMES_MAX", 5)
    event = {"type": "Event", "inputs": {"event_name": "again"}}
    loop = {"id": "loop", "root": {"type": "While", "inputs": {"condition": True}, "body": event}}
    (folder / "loop.json").write_text(json.dumps({"format": "holdfast/definition@1", **loop}), encoding="utf-8")

    result = call("run", "loop.json", "--auto-resume", "--state", "state.json")

    assert result.exit_code == 2
    assert "gave up after 5" in result.stderr
    assert json.loads((folder / "state.json").read_text(encoding="utf-8"))["status"] == "suspended"


def test_a_bug_of_ours_is_one_line_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("holdfast.cli.engines.make_engine", broken)

    result = call("schema")

    assert result.exit_code == 70
    assert "ZeroDivisionError: oh no" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("uvicorn", "server", ["serve", "--port", "0"]),
        ("fastapi", "server", ["instances", "list"]),
        ("argon2", "server", ["users", "list"]),
        ("aiohttp", "client", ["instances", "list", "--server", "http://127.0.0.1:1"]),
    ],
)
def test_a_package_that_is_not_installed(folder: Path, package: str, extra: str, command: list[str]) -> None:
    script = f"import sys; sys.modules[{package!r}] = None; from holdfast.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=False)

    assert run.returncode == 2, run.stderr
    assert package in run.stderr
    assert f"pip install 'holdfast[{extra}]'" in run.stderr
    assert run.stderr.count("\n") == 1


def test_an_interruption_is_130(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.engines.make_engine", interrupted)

    result = call("schema")

    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
