"""Whatever is wrong with what a person gives: exit code 2, a message that names the remedy, no traceback."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Call = Callable[..., Result]

HELLO = {
    "format": "holdfast/definition@1",
    "id": "hello",
    "inputs": [{"name": "name", "type": "string"}, {"name": "times", "type": "integer"}],
    "root": {"type": "WriteLine", "inputs": {"text": "hello"}},
}
STATE = {
    "format": "holdfast/run@1",
    "workflow": {"file": "hello.json", "document": HELLO},
    "with": [],
    "activities": [],
}
MODULE = """
from holdfast import Workflow
from holdfast.activities import WriteLine
flow = Workflow(WriteLine("x"), id="flow")
code = Workflow(WriteLine(object()), id="code")
def fails(): raise LookupError("no\\nluck")
"""


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    texts = {
        "hello.json": json.dumps(HELLO),
        "broken.json": '{\n  "format": "x",\n  oops\n}',
        "empty.json": "",
        "list.json": "[1, 2]",
        "broken.yaml": "id: x\nroot:\n  type: WriteLine\n   inputs: x\n",
        "text.json": '"hello"',
        "null.json": "null",
        "other.json": '{"name": "not a workflow"}',
        "future.json": '{"format": "holdfast/definition@99", "id": "x", "root": {"type": "WriteLine"}}',
        "nan.json": '{"a": NaN}',
        "deep.json": "[" * 200_000,
        "hasty.json": json.dumps({**HELLO, "root": {"type": "WriteLine", "options": {"retry": {"attempts": 0}}}}),
        "elsa.json": '{"definitionId": "x", "root": {}}',
        "state.json": json.dumps(STATE),
        "damaged.json": json.dumps({"format": "holdfast/run@1"}),
        "wrong_state.json": json.dumps({**STATE, "state": {"format": "holdfast/instance@1"}}),
        "odd_state.json": json.dumps({**STATE, "state": []}),
        "good_module.py": MODULE,
        "syntax_module.py": "x = = 1\n",
        "raising_module.py": "\nraise RuntimeError('boom')\n",
        "leaving_module.py": "import sys\nsys.exit(3)\n",
        "needy_module.py": "import surely_not_installed\n",
        "unfit_module.py": "from holdfast import workflow\n@workflow\nasync def flow(): return eval('1')\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.json").write_bytes('{\n"id": "Grüße"}'.encode("latin-1"))
    (folder / "wide.json").write_bytes(json.dumps(HELLO).encode("utf-16"))
    (folder / "binary.json").write_bytes(bytes(range(256)))
    (folder / "a_folder").mkdir()
    (folder / "made.db").touch()  # An empty file is an empty database.


TABLE: list[tuple[list[str], str]] = [
    (["run"], "Missing argument"),
    (["fly"], "No such command"),
    (["run", "nowhere.json"], "no file 'nowhere.json'"),
    (["run", "a_folder"], "is a folder"),
    (["run", "nul\0.json"], "no file"),
    (["run", "broken.json"], "line 3, column 3"),
    (["run", "broken.yaml"], "broken.yaml is not YAML: mapping values are not allowed here at line 4, column 10"),
    (["run", "empty.json"], "is not JSON"),
    (["run", "nan.json"], "NaN"),
    (["run", "deep.json"], "too deep"),
    (["run", "latin.json"], "Save it as UTF-8"),
    (["run", "wide.json"], "Save it as UTF-8"),
    (["run", "binary.json"], "Save it as UTF-8"),
    (["run", "list.json"], "A definition is an object"),
    (["run", "text.json"], "A definition is an object"),
    (["run", "null.json"], "A definition is an object"),
    (["run", "other.json"], "/root"),
    (["run", "future.json"], "format version 99"),
    (["run", "elsa.json"], "/root"),
    (["run", "hasty.json"], "/root/options/retry/attempts"),
    (["run", "hasty.json"], "Write 1 or more"),
    (["run", "hello.json", "--with", "hasty.json"], "hasty.json: /root/options/retry/attempts"),
    (["run", "state.json"], "holdfast resume --state"),
    (["run", "hello.json", "--with", "nowhere.json"], "no file 'nowhere.json'"),
    (["run", "hello.json", "--with", "other.json"], "other.json: /root"),
    (["run", "hello.json", "--flowchart-mode", "wild"], "'counter', 'token'"),
    (["run", "hello.json", "--wildly"], "No such option"),
    (["run", "hello.json", "--input", "{nope"], "--input @FILE"),
    (["run", "hello.json", "--input", "[1]"], "is a list"),
    (["run", "hello.json", "--input", "null"], "is null"),
    (["run", "hello.json", "--input", "true"], "true or false"),
    (["run", "hello.json", "--input", "@nowhere.json"], "no file 'nowhere.json'"),
    (["run", "hello.json", "--input", "@"], "lacks a file name"),
    (["run", "hello.json", "--input", "@a_folder"], "is a folder"),
    (["run", "hello.json", "--input", '{"nam": 1, "times": "many"}'], "Did you mean 'name'?"),
    (["run", "hello.json", "--input", '{"nam": 1, "times": "many"}'], "/times: error"),
    (["run", "hello.json", "--state", "a_folder"], "is a folder"),
    (["run", "hello.json", "--state", "no/such/folder/state.json"], "cannot be written"),
    (["run", "hello.json", "--state", "hello.json"], "Name another file"),
    (["run", "hello.json", "--activities", "no_such_module"], "no module 'no_such_module'"),
    (["run", "hello.json", "--activities", "json"], "Put @activity"),
    (["run", "no_such_module:flow"], "no module 'no_such_module'"),
    (["run", "no_such.py:flow"], "no file 'no_such.py'"),
    (["run", "good_module.py"], "good_module.py:NAME"),
    (["run", "good_module:flwo"], "Did you mean 'flow'?"),
    (["run", "good_module:fails"], "LookupError: no luck (good_module.py, line 6)"),
    (["run", "syntax_module:flow"], "(syntax_module.py, line 1)"),
    (["run", "raising_module:flow"], "RuntimeError: boom (raising_module.py, line 2)"),
    (["run", "leaving_module:flow"], "SystemExit: 3"),
    (["run", "needy_module:flow"], "surely_not_installed"),
    (["run", "unfit_module:flow"], "unfit_module.py:3: `eval()` needs a"),
    (["run", "unfit_module:flow"], "\n                             ^^^^^^^^^\n  Instead: "),
    (["run", "json:dumps"], "needs arguments"),
    (["run", "sys:maxsize"], "is an int, not a workflow"),
    (["run", "holdfast.activities:WriteLine"], "is an activity, not a workflow"),
    (["run", "decimal:Decimal"], "is a class, not a workflow"),
    (["resume"], "Name the run to resume"),
    (["resume", "--state", "nowhere.json"], "no file 'nowhere.json'"),
    (["resume", "--state", "hello.json"], "is not a state file (format 'holdfast/definition@1')"),
    (["resume", "--state", "list.json"], "is not a state file"),
    (["resume", "--state", "damaged.json"], "is damaged"),
    (["resume", "--state", "wrong_state.json"], "damaged"),
    (["resume", "--state", "odd_state.json"], "not an instance state"),
    (["validate"], "Missing argument"),
    (["validate", "broken.json"], "line 3, column 3"),
    (["validate", "list.json"], "A definition is an object"),
    (["validate", "hello.json", "--with", "broken.json"], "line 3, column 3"),
    (["convert", "nowhere.json"], "no file"),
    (["convert", "other.json"], "/root"),
    (["convert", "elsa.json"], "/root"),
    (["convert", "hello.json", "--to", "cobol"], "'holdfast', 'elsa'"),
    (["convert", "hello.json", "-o", "no/such/folder.json"], "cannot be written"),
    (["convert", "good_module:code"], "cannot be written as JSON"),
    (["graph", "other.json"], "/root"),
    (["graph", "hello.json", "--format", "crayon"], "'mermaid', 'svg'"),
    (["schema", "-o", "a_folder"], "cannot be written"),
    (["schema", "-o", "/"], "it is a folder"),
    (["schema", "-o", "hello.json/x.json"], "'hello.json/x.json' cannot be written"),
    (["migrate", "--store", "postgresql://["], "cannot be read"),
    (["run", "/dev/zero"], "larger than"),
    (["users", "add", "kim", "--store", "sqlite:///made.db"], "--password -"),
    (["run", "x" * 9000], "File name too long"),
    (["activities", "--activities", "raising_module"], "boom"),
    (["instances", "show", "a\udcffb", "--store", "sqlite:///made.db"], "is not valid UTF-8"),
    (["instances", "list", "--search", "a\udcffb", "--store", "sqlite:///made.db"], "is not valid UTF-8"),
    (["resume", "a\udcffb", "--store", "sqlite:///made.db"], "is not valid UTF-8"),
    (["rnu", "hello.json"], "Did you mean 'run'?"),
    (["instances", "lsit"], "Did you mean 'list'?"),
    (["instances", "list", "--status", "sleeping"], "'suspended'"),
    (["instances", "list", "--store", "kept.db"], "is not a store address"),
    (
        ["instances", "list", "--store", "sqlite:///no/such/folder/kept.db"],
        "There is no database 'no/such/folder/kept.db'",
    ),
    (["migrate", "--store", "sqlite:///no/such/folder/kept.db"], "Check that its folder exists"),
    (["instances", "list", "--store", "sqlite:///hello.json"], "is not a valid SQLite database"),
    (["instances", "list", "--server", "127.0.0.1"], "http://"),
    (["serve", "--host", "no.such.host.invalid"], "Choose another --port"),
]


@pytest.mark.parametrize(
    ("arguments", "told"), TABLE, ids=lambda item: " ".join(item)[:60] if isinstance(item, list) else ""
)
def test_bad_input(call: Call, arguments: list[str], told: str) -> None:
    result = call(*arguments)

    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert not result.stdout
    assert "Traceback" not in result.stderr


def test_a_port_that_is_taken(call: Call, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = call("serve", "--port", str(taken.getsockname()[1]))

    assert result.exit_code == 2
    assert "0 selects a free one" in result.stderr
    assert not (folder / "holdfast.db").exists()


@pytest.mark.parametrize("name", ["HOLDFAST_SEGMENT_TIME", "HOLDFAST_NO_SUCH_SETTING"])
def test_settings_that_make_no_sense(call: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "purple")

    result = call("run", "hello.json")

    assert result.exit_code == 2
    assert name in result.stderr


def test_a_damaged_state_leaves_the_file_alone(call: Call, folder: Path) -> None:
    before = (folder / "damaged.json").read_bytes()

    call("resume", "--state", "damaged.json")

    assert (folder / "damaged.json").read_bytes() == before


def test_validate_looks_at_every_file_and_tells_as_data(call: Call) -> None:
    result = call("validate", "broken.json", "hello.json", "nowhere.json", "--json")

    found: list[dict[str, Any]] = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [(item["file"], item["valid"]) for item in found] == [
        ("broken.json", False),
        ("hello.json", True),
        ("nowhere.json", False),
    ]
    assert list(found[0]["problems"][0]) == ["path", "severity", "code", "message", "remedy"]
