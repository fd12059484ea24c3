"""`holdfast import`: one set of definitions, in the store as a whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.cli.conftest import Call

STORE = ("--store", "sqlite:///kept.db")


def put(path: str, identity: str, root: Any = None, **more: Any) -> str:
    found = root or {"type": "WriteLine", "id": "say", "inputs": {"text": "hello"}}
    document = {"format": "holdfast/definition@1", "id": identity, "root": found, **more}
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(json.dumps(document))
    return path


def listed(call: Call) -> list[str]:
    return [item["id"] for item in json.loads(call("definitions", "list", "--json", *STORE).stdout)]


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_written(call: Call) -> None:
    put("flows/a.json", "a")
    put("flows/b.json", "b", {"type": "Nonsense", "id": "x"})
    Path("flows/c.json").write_text("{")

    refused = call("import", "flows", *STORE)

    assert refused.exit_code == 2
    assert "Nothing was imported" in refused.stderr
    assert "b.json" in refused.stderr
    assert "c.json" in refused.stderr
    assert "a.json" not in refused.stderr
    assert not Path("kept.db").exists()


def test_an_id_comes_from_one_file(call: Call) -> None:
    refused = call("import", put("a.json", "same"), put("b.json", "same"), *STORE)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "b.json" in refused.stderr
    assert "'same'" in refused.stderr


def test_a_file_that_is_named_twice_is_imported_once(call: Call) -> None:
    name = put("a.json", "a")

    assert call("import", name, name, *STORE).stdout == "a version 1: imported\n"


def test_a_route_that_is_taken_keeps_the_others_out(call: Call) -> None:
    asks = {"type": "HttpEndpoint", "id": "ask", "options": {"can_start": True}, "inputs": {"path": "orders"}}
    call("import", put("first.json", "first", asks), *STORE)

    refused = call("import", put("a.json", "a"), put("b.json", "b", asks), *STORE)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "belongs to the workflow 'first'" in refused.stderr
    assert listed(call) == ["first"]


def test_definitions_that_are_imported_together_may_use_each_other(call: Call) -> None:
    uses = put("a.json", "a", {"type": "Greeting", "id": "greeting"})
    used = put("z.json", "z", name="Greeting", options={"usable_as_activity": True})

    assert call("import", uses, used, *STORE).exit_code == 0
    assert listed(call) == ["a", "z"]
