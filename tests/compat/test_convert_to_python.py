"""Definitions as Python text: read again, it gives an equivalent definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Status, Workflow, activity
from holdfast.authoring.printer import Known, print_definition, untangled
from holdfast.elsa import is_elsa, read_elsa
from holdfast.engine.python_export import known
from holdfast.errors import ConversionError
from holdfast.model.definition import Definition
from holdfast.model.hashing import content_hash
from holdfast.model.reader import parse_definition

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "conformance" / "elsa"
FILES = [
    *sorted((ROOT / "examples").glob("*.json")),
    *sorted((ROOT / "tests/compat/elsa").glob("*.json")),
    *(sorted(SHARED.glob("*__*.json")) if SHARED.exists() else []),
]
KNOWN = known(Holdfast(entry_points=False))


@activity
async def charge(order: str, amount: int = 1) -> str:
    return order


def read(file: Path) -> Definition:
    document = json.loads(file.read_text(encoding="utf-8-sig"))
    definition = read_elsa(document)[0] if is_elsa(document) else parse_definition(document)
    assert definition is not None
    return definition


def again(definition: Definition, known: dict[str, Known] | None = None) -> tuple[Definition, str]:
    printed = print_definition(definition, {**KNOWN, **(known or {})})
    names: dict[str, Any] = {}
    exec(compile(printed.text, "printed.py", "exec"), names)
    found = names["workflow"]
    assert isinstance(found, Workflow)
    return found.definition, printed.text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_converting_back_gives_an_equivalent_definition(file: Path) -> None:
    definition = read(file)

    back, text = again(definition)

    assert content_hash(back) == content_hash(definition), text


def test_functions_are_bound_by_their_names() -> None:
    call = {
        "type": "charge",
        "id": "pay",
        "inputs": {"order": {"$python": "order"}, "amount": 3},
        "outputs": {"result": "receipt"},
        "options": {"retry": {"attempts": 5}, "timeout": "PT1M30S"},
    }
    definition = parse_definition(
        {"id": "x", "root": call, "variables": [{"name": "receipt"}, {"name": "order", "default": "7"}]}
    )
    known = Known(module=__name__, name="charge", thing=charge)
    printed = print_definition(definition, {**KNOWN, "charge": known})

    assert f"from {__name__} import charge\n" in printed.text
    assert 'charge.bind(\n        order=expr("order"),\n        amount=3,\n        result="receipt",' in printed.text
    assert "retry=Retry(attempts=5)" in printed.text
    assert "timeout=timedelta(minutes=1, seconds=30)" in printed.text
    assert 'variables={"receipt": None, "order": "7"}' in printed.text
    assert printed.unknown == ()


def test_what_is_unknown_stands_by_its_type() -> None:
    node = {
        "type": "Acme.Send",
        "id": "a",
        "version": 3,
        "inputs": {"to": "x"},
        "body": {"type": "WriteLine", "id": "b"},
    }
    definition = parse_definition({"id": "x", "name": "x", "root": node})
    printed = print_definition(definition, KNOWN)

    assert printed.unknown == ("Acme.Send",)
    assert (
        'Placed("Acme.Send", version=3, id="a", inputs={"to": "x"}, ports={"body": WriteLine(id="b")})' in printed.text
    )
    assert content_hash(again(definition)[0]) == content_hash(definition)


def chart(*connections: tuple[str, str | None, str], flags: tuple[str, ...] = ("one", "two")) -> Definition:
    """Activities are lines that say their names, decisions look at the input of their name."""
    names = dict.fromkeys(name for source, _, target in connections for name in (source, target))
    activities = [
        {"type": "FlowDecision", "id": name, "inputs": {"condition": {"$python": name}}}
        if name in flags
        else {"type": "WriteLine", "id": name, "inputs": {"text": name}}
        for name in names
    ]
    lines = [{"from": source, "to": target, "outcome": outcome} for source, outcome, target in connections]
    root = {"type": "Flowchart", "id": "chart", "activities": activities, "connections": lines}
    inputs = [{"name": name, "type": "boolean", "required": True} for name in flags]
    return parse_definition({"id": "x", "name": "x", "root": root, "inputs": inputs})


NESTS = {
    "chain": chart(("a", None, "b"), ("b", "Done", "c")),
    "meets": chart(("one", "True", "a"), ("one", "False", "b"), ("a", None, "c"), ("b", None, "c")),
    "one way": chart(("a", None, "one"), ("one", "True", "b"), ("b", None, "c")),
    "beside": chart(("one", "True", "a"), ("a", None, "c"), ("one", "False", "c"), ("c", None, "d")),
    "inside": chart(
        ("one", "True", "two"),
        ("one", "False", "b"),
        ("two", "True", "a"),
        ("two", "False", "d"),
        ("a", None, "c"),
        ("d", None, "c"),
        ("c", None, "e"),
        ("b", None, "e"),
    ),
    "apart": chart(("one", "True", "a"), ("one", "False", "two"), ("two", "True", "b"), ("b", None, "c")),
}
TANGLES = {
    "loop": chart(("a", None, "one"), ("one", "True", "a"), ("one", "False", "b")),
    "fork": chart(("a", None, "b"), ("a", None, "c")),
    "crossing": chart(
        ("one", "True", "a"), ("one", "False", "two"), ("two", "True", "a"), ("two", "False", "b"), ("a", None, "c")
    ),
    "ends before": chart(
        ("one", "True", "two"), ("one", "False", "c"), ("two", "True", "c"), ("two", "False", "b"), ("c", None, "d")
    ),
}


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("two", [True, False])
async def test_a_flowchart_that_is_a_nest_does_the_same_as_one(name: str, one: bool, two: bool) -> None:
    engine = Holdfast(entry_points=False)
    nest, tangled = untangled(NESTS[name], engine.descriptors)
    assert tangled == ()
    assert not any(node.type == "Flowchart" for node in nest.root.walk())

    runs = [
        await engine.runner.run(definition, {"one": one, "two": two}) for definition in (NESTS[name], again(nest)[0])
    ]

    assert [run.status for run in runs] == [Status.FINISHED] * 2
    assert runs[0].lines == runs[1].lines


@pytest.mark.parametrize("name", TANGLES)
def test_flowcharts_that_cannot_be_untangled_are_told(name: str) -> None:
    assert untangled(TANGLES[name], Holdfast(entry_points=False).descriptors) == (TANGLES[name], ("chart",))


def test_code_is_its_own_python() -> None:
    definition = parse_definition(
        {"id": "x", "root": {"type": "Function", "id": "f"}, "metadata": {"module": "shop", "function": "fulfil"}}
    )
    with pytest.raises(ConversionError, match="shop:fulfil"):
        print_definition(definition, KNOWN)
