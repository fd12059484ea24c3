"""The stored definition is the whole program: instances go on from it when the function is changed, moved or gone."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from holdfast import Holdfast, Status
from holdfast.errors import DefinitionError, InvalidDefinition
from holdfast.model.definition import Definition, Expression
from holdfast.model.hashing import content_hash
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition

COMMON = """\
from holdfast import activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import wait_for

LIMIT = {limit}

def price(x):
    return x * {factor}

class Refused(Exception):
    pass

@activity(pure=True)
async def fetch(order_id: str) -> int:
    return len(order_id)
"""

BODY = """\

@workflow
async def fulfil(order_id: str) -> list:
    log = []
    for step in range(3):
        amount = await fetch(order_id)
        try:
            answer = await wait_for("go")
            if answer == "no":
                raise Refused(order_id)
            log.append([step, answer, price(amount), LIMIT])
        except Refused as error:
            log.append(str(error))
            await wait_for("after")
            continue
        finally:
            log.append("done")
    return log
"""

ANSWERS = ["yes", "no", "x", "maybe"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("pinned_shop", None)


def deploy(folder: Path, text: str) -> ModuleType:
    """A new process, as far as the module is concerned."""
    sys.modules.pop("pinned_shop", None)
    importlib.invalidate_caches()
    for cached in folder.glob("__pycache__/*"):
        cached.unlink()
    (folder / "pinned_shop.py").write_text(text, encoding="utf-8")
    return importlib.import_module("pinned_shop")


def stored(definition: Definition) -> Definition:
    return parse_definition(json.loads(json.dumps(write_definition(definition))), trusted=True)


async def park(engine: Holdfast, workflow: Any, answers: list[str]) -> dict[str, Any]:
    result = await engine.runner.run(workflow, {"order_id": "seven"})
    for answer in answers:
        result = await engine.runner.resume(result, None, answer)
    assert result.status is Status.SUSPENDED
    state: dict[str, Any] = json.loads(json.dumps(result.state))
    return state


@pytest.mark.parametrize("passed", range(4))
async def test_parked_at_every_await_it_goes_on_after_the_module_was_rewritten(passed: int, folder: Path) -> None:
    old = deploy(folder, COMMON.format(limit=10, factor=2) + BODY)
    document = write_definition(old.fulfil.definition)
    state = await park(Holdfast(entry_points=False), old.fulfil, ANSWERS[:passed])

    new = deploy(folder, "# another file now\n\n\n" + COMMON.format(limit=99, factor=3))
    engine = Holdfast(entry_points=False, activities=[new.fetch])
    definition = parse_definition(json.loads(json.dumps(document)), trusted=True)
    result = engine.runner.load(state, definition)
    for answer in ANSWERS[passed:]:
        result = await engine.runner.resume(result, None, answer)

    assert result.status is Status.FINISHED
    # Constants are part of the program; what it refers to by name runs as it is now, from where it went on.
    prices = [item[2] for item in result.outputs["result"] if isinstance(item, list)]
    assert result.outputs["result"] == [
        [0, "yes", prices[0], 10], "done", "seven", "done", [2, "maybe", prices[1], 10], "done",
    ]  # fmt: skip
    assert prices == [10 if passed > 0 else 15, 15]


async def test_a_reference_that_is_gone_is_told_before_anything_runs(folder: Path) -> None:
    old = deploy(folder, COMMON.format(limit=10, factor=2) + BODY)
    definition = stored(old.fulfil.definition)
    new = deploy(folder, COMMON.format(limit=10, factor=2).replace("def price", "def cost"))

    with pytest.raises(InvalidDefinition, match="pinned_shop:price") as caught:
        Holdfast(entry_points=False, activities=[new.fetch]).plan(definition)

    assert [problem.code for problem in caught.value.problems] == ["missing-reference"]


def test_lines_comments_and_formatting_are_not_content(folder: Path) -> None:
    one = deploy(folder, COMMON.format(limit=10, factor=2) + BODY).fulfil.definition
    spread = BODY.replace(
        "[step, answer, price(amount), LIMIT]", "[\n    step, answer,  # why\n    price( amount ), LIMIT]"
    )
    other = deploy(folder, COMMON.format(limit=10, factor=2) + "\n\n# more\n" + spread).fulfil.definition

    assert content_hash(one) == content_hash(other)
    assert [node.id for node in one.root.walk()] == [node.id for node in other.root.walk()]


@pytest.mark.parametrize(
    ("old", "new"),
    [("range(3)", "range(4)"), ("LIMIT]", "LIMIT + 1]"), ("Refused as", "KeyError as"), ("limit", "limit")],
)
def test_other_code_is_other_content(old: str, new: str, folder: Path) -> None:
    before = deploy(folder, COMMON.format(limit=10, factor=2) + BODY).fulfil.definition
    limit = 11 if old == "limit" else 10
    after = deploy(folder, COMMON.format(limit=limit, factor=2) + BODY.replace(old, new)).fulfil.definition

    assert content_hash(before) != content_hash(after)


def test_ids_of_others_stay_when_something_is_added(folder: Path) -> None:
    before = deploy(folder, COMMON.format(limit=10, factor=2) + BODY).fulfil.definition
    more = BODY.replace("    return log", "    log.append(await fetch('x'))\n    return log")
    after = deploy(folder, COMMON.format(limit=10, factor=2) + more).fulfil.definition

    named = {node.id for node in before.root.walk() if node.type != "Sequence"}
    assert named < {node.id for node in after.root.walk()}


def test_every_expression_is_text_and_the_document_is_json(folder: Path) -> None:
    definition = deploy(folder, COMMON.format(limit=10, factor=2) + BODY).fulfil.definition
    expressions = [
        value for node in definition.root.walk() for value in node.inputs.values() if isinstance(value, Expression)
    ]

    assert {item.language for item in expressions} == {"code"}
    assert all(isinstance(item.source, str) for item in expressions)
    assert content_hash(stored(definition)) == content_hash(definition)


def test_no_document_brings_code_in(folder: Path) -> None:
    document = write_definition(deploy(folder, COMMON.format(limit=10, factor=2) + BODY).fulfil.definition)
    engine = Holdfast(entry_points=False)

    with pytest.raises(InvalidDefinition) as caught:
        engine.definition(document)

    assert {problem.code for problem in caught.value.problems} == {"code-not-allowed"}


def test_code_outside_a_function_is_refused_even_if_it_got_that_far() -> None:
    from holdfast import Workflow
    from holdfast.activities import WriteLine

    with pytest.raises(InvalidDefinition, match="only valid inside"):
        Holdfast(entry_points=False).plan(Workflow(WriteLine(Expression("code", "1 + 1"))))


TRICKS: list[dict[str, Any]] = [
    {"type": "Code", "inputs": {"source": "import os"}},
    {"type": "Code", "inputs": {"source": {"$python": "1"}}},
    {"type": "Code", "inputs": {"source": {"$literal": "import os"}}},
    {"type": "Return", "inputs": {"value": "1"}},
    {
        "type": "LoopOver",
        "inputs": {"items": "[1]", "target": "x = 1", "iterator": "x", "item": "x"},
        "body": {"type": "Sequence"},
    },
    {"type": "LoopWhile", "inputs": {"condition": {"$python": "True"}}, "body": {"type": "Sequence"}},
    {"type": "Choose", "inputs": {"select": {"$javascript": "1"}}},
    {"type": "Gather", "inputs": {"calls": "[]", "results": "x"}},
    {"type": "WaitFor", "inputs": {"event_name": "x", "where": {"$python": "1"}}},
    {
        "type": "Attempt",
        "inputs": {"error": "x", "value": "x"},
        "handlers": [{"errors": {"$python": "Exception"}, "body": {"type": "Sequence"}}],
    },
]


@pytest.mark.parametrize("activity", TRICKS, ids=lambda activity: activity["type"])
def test_no_other_text_becomes_python(activity: dict[str, Any]) -> None:
    """A document may name our activities; without `$code`, which no document has, they do not compile."""
    function = {"type": "Function", "variables": [{"name": "x"}], "body": activity}

    with pytest.raises(DefinitionError, match="code"):
        Holdfast(entry_points=False).plan({"id": "trick", "root": function})


def test_no_document_has_modules_imported() -> None:
    function = {"type": "Function", "inputs": {"uses": {"x": {"of": "antigravity"}}}, "body": {"type": "Sequence"}}

    with pytest.raises(DefinitionError, match="code"):
        Holdfast(entry_points=False).plan({"id": "trick", "root": function})
    assert "antigravity" not in sys.modules


async def test_what_failed_can_be_run_again(folder: Path) -> None:
    module = deploy(
        folder,
        COMMON.format(limit=10, factor=2)
        + """
BROKEN = [True]

@workflow
async def trying(x: int) -> int:
    y = await fetch("abc")
    if BROKEN[0]:
        raise Refused(y)
    return y + x
""",
    )
    engine = Holdfast(entry_points=False)
    failed = await engine.runner.run(module.trying, {"x": 1})
    module.BROKEN[0] = False
    result = await engine.runner.retry(failed)

    assert failed.status is Status.FAULTED
    assert result.outputs == {"result": 4}


async def test_canceling_runs_what_stands_in_finally(folder: Path) -> None:
    module = deploy(
        folder,
        COMMON.format(limit=10, factor=2)
        + """
SEEN = []

@workflow
async def holding() -> int:
    try:
        await wait_for("never")
    finally:
        SEEN.append(await fetch("abcd"))
""",
    )
    engine = Holdfast(entry_points=False)
    result = await engine.runner.cancel(await engine.runner.run(module.holding))

    assert result.status is Status.CANCELED
    assert module.SEEN == [4]


def test_the_text_stands_beside_the_graph(folder: Path) -> None:
    """An editor shows the source next to the drawing: activities name lines of it."""
    definition = deploy(folder, COMMON.format(limit=1, factor=2) + BODY).fulfil.definition
    source = definition.metadata["source"]
    lines = source["text"].splitlines()

    assert lines[0] == "@workflow"
    for node in definition.root.walk():
        if node.type == "WaitFor":
            assert "wait_for(" in lines[node.metadata["line"] - source["line"]]
