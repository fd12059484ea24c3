"""Elsa → ours → Elsa gives the same document; ours → Elsa → ours gives the same definition.

The same document means: after the normalisation that `holdfast.elsa.normalize` describes, written here a second time,
independently and on the whole tree at once.
"""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.elsa import read_elsa, write_elsa
from holdfast.model.definition import (
    ActivationStrategy,
    ActivityNode,
    Connection,
    Definition,
    DefinitionOptions,
    Expression,
    InputDeclaration,
    OutputDeclaration,
    PortEntry,
    Storage,
    Variable,
)
from holdfast.model.policy import ActivityOptions, JournalRule, MergeMode, OnLost, Retry
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition

_REPOSITORY = Path(__file__).parents[3]
_OURS = sorted((_REPOSITORY / "tests" / "compat" / "elsa").glob("*.json"))
_SHARED = sorted((_REPOSITORY.parent / "shared" / "conformance" / "elsa").glob("*__*.json"))


_BAGS = ("customProperties", "applicationProperties", "metadata")
_FLAGS = ("canStartWorkflow", "runAsynchronously")


def _lower(key: str) -> str:
    return key[:1].lower() + key[1:]


def _normal(value: Any) -> Any:
    """The document with keys in camelCase, wrapped collections unwrapped and everything at its present place."""
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$values"}:
        return _normal(value["$values"])
    found = {_lower(key): item if _lower(key) in _BAGS else _normal(item) for key, item in value.items()}
    if isinstance(found.get("type"), str) and "id" in found:
        moved = {key: found.pop(key) for key in _FLAGS if key in found}
        moved |= found.pop("applicationProperties", {})
        if moved or "customProperties" in found:
            bag = moved | found.get("customProperties", {})
            found["customProperties"] = {_lower(key) if _lower(key) in _FLAGS else key: bag[key] for key in bag}
    if "sourcePort" in found:
        found["source"] = {"activity": found["source"], "port": found.pop("sourcePort")}
        found["target"] = {"activity": found["target"], "port": found.pop("targetPort")}
    if "root" in found:
        if "usableAsActivity" in found:
            found["options"] = {"usableAsActivity": found.pop("usableAsActivity")} | found.get("options", {})
        if "metadata" in found:
            found["customProperties"] = found.pop("metadata") | found.get("customProperties", {})
    return found


@pytest.mark.parametrize("file", [*_OURS, *_SHARED], ids=lambda file: file.stem)
def test_a_document_comes_back_the_same(file: Path) -> None:
    text = file.read_bytes()
    definition, _ = read_elsa(text)
    assert definition is not None
    written, _ = write_elsa(definition)
    assert written == _normal(json.loads(text.decode("utf-8-sig")))
    assert read_elsa(written)[0] == definition


@pytest.mark.parametrize("file", _OURS, ids=lambda file: file.stem)
def test_a_document_passes_through_our_own_format(file: Path) -> None:
    definition, _ = read_elsa(file.read_bytes())
    assert definition is not None
    assert parse_definition(json.loads(json.dumps(write_definition(definition)))) == definition


def test_our_own_files_are_there() -> None:
    assert len(_OURS) >= 50


@pytest.mark.parametrize("file", _OURS, ids=lambda file: file.stem)
def test_what_is_kept_is_plain_json(file: Path) -> None:
    definition, _ = read_elsa(file.read_bytes())
    assert definition is not None
    for metadata in (definition.metadata, *(node.metadata for node in definition.root.walk())):
        assert json.loads(json.dumps(metadata)) == metadata


# -- a document with everything ----------------------------------------------------------------------------------------

_EVERYTHING: dict[str, Any] = {
    "$schema": "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json",
    "id": "v-77",
    "definitionId": "everything",
    "tenantId": "*",
    "name": "Everything",
    "createdAt": "2026-03-01T08:30:00+00:00",
    "version": 12,
    "toolVersion": "3.2.0.0",
    "isSystem": False,
    "variables": [
        {"id": "v1", "name": "Count", "typeName": "Int32", "isArray": False, "value": "0"},
        {
            "id": "v2",
            "name": "Order",
            "typeName": "Acme.Order, Acme",
            "storageDriverTypeName": "Acme.BlobStorageDriver",
        },
    ],
    "inputs": [{"type": "String", "name": "Who", "uiHint": "singleline", "storageDriverType": "X", "isArray": False}],
    "outputs": [],
    "outcomes": [],
    "customProperties": {"Elsa:WorkflowContextProviderTypes": ["Acme.Provider"], "odd": {"a/b": [1, {"~": None}]}},
    "options": {
        "activationStrategyType": "Elsa.Workflows.Runtime.SingletonStrategy, Elsa.Workflows.Runtime",
        "unknown": 1,
    },
    "root": {
        "id": "chart",
        "nodeId": "Workflow1:chart",
        "type": "Elsa.Flowchart",
        "version": 1,
        "start": "switch",
        "customProperties": {"source": "File.cs:45", "notFoundConnections": []},
        "metadata": {"designer": {"position": {"x": 1, "y": 2}, "zoom": 0.5}, "showDescription": True},
        "variables": [{"id": "v3", "name": "Count", "typeName": "Int64"}],
        "activities": [
            {
                "id": "switch",
                "type": "Elsa.Switch",
                "version": 1,
                "name": None,
                "cases": [
                    {
                        "label": "A",
                        "condition": {"type": "CSharp", "value": "Variable.Order"},
                        "colour": "red",
                        "activity": {"id": "x", "type": "Acme.Unknown", "Body": {"id": "y", "type": "Elsa.WriteLine"}},
                    },
                    {"label": "B", "condition": {"type": "CSharp", "value": "await Ask()"}, "activity": None},
                ],
                "mode": {
                    "typeName": "Elsa.SwitchMode",
                    "expression": {"type": "Literal", "value": 1},
                    "memoryReference": {"id": "m"},
                },
                "default": None,
                "customProperties": {"resilienceStrategy": {"mode": "Identifier"}, "VariableTestValues": {"v1": 3}},
                "metadata": {},
            },
            {
                "id": "set",
                "type": "Elsa.SetVariable",
                "version": 1,
                "variable": {"id": "v3", "name": "Count", "typeName": "Int64", "value": "0", "isArray": False},
                "value": {
                    "typeName": "Object",
                    "expression": {"type": "Variable", "value": '{"id": "v1", "name": "Count"}'},
                    "memoryReference": {"id": "set:input-1"},
                },
                "customProperties": {"canStartWorkflow": False, "runAsynchronously": True, "mergeMode": "None"},
                "metadata": {},
            },
            {
                "id": "run",
                "type": "Elsa.RunJavaScript",
                "version": 1,
                "script": {"typeName": "String", "expression": {"type": "Literal", "value": "1"}},
                "possibleOutcomes": None,
                "result": {
                    "typeName": "Int32",
                    "memoryReference": {"id": "v1"},
                    "converter": {"id": "round", "settings": {"digits": 2}},
                },
                "customProperties": {},
                "metadata": {},
            },
        ],
        "connections": [
            {
                "source": {"activity": "switch", "port": None},
                "target": {"activity": "set", "port": "Side"},
                "vertices": [{"x": 1, "y": 2}],
                "label": "then",
            },
            {"source": {"activity": "set"}, "target": {"activity": "nowhere"}},
        ],
    },
}


def test_everything_at_once_comes_back() -> None:
    definition, problems = read_elsa(_EVERYTHING)
    assert definition is not None
    assert write_elsa(definition)[0] == _EVERYTHING
    assert {problem.code for problem in problems} == {
        "unknown-value-type",
        "resilience-strategy",
        "unknown-type",
        "csharp",
        "dangling-connection",
    }


def test_an_edit_of_ours_is_written_and_the_rest_stays() -> None:
    definition, _ = read_elsa(_EVERYTHING)
    assert definition is not None
    switch, *others = definition.root.ports["activities"]
    edited = msgspec.structs.replace(switch, inputs={"mode": "match_first"})
    root = msgspec.structs.replace(definition.root, ports={"activities": (edited, *others)})
    written, _ = write_elsa(msgspec.structs.replace(definition, root=root, version=13))
    expected = copy.deepcopy(_EVERYTHING)
    expected["version"] = 13
    expected["id"] = "everything:13"
    expected["root"]["activities"][0]["mode"]["expression"] = {"type": "Literal", "value": "MatchFirst"}
    assert written == expected


# -- ours, there and back ----------------------------------------------------------------------------------------------

_OPTIONS = ActivityOptions(
    retry=Retry(attempts=5, delay=timedelta(seconds=2), on=("TimeoutError",)),
    timeout=timedelta(seconds=30),
    commit="never",
    journal=JournalRule(default="off"),
    on_lost=OnLost.FAIL,
    queue="ovens",
    can_start=True,
    merge=MergeMode.CASCADE,
)
_DEFINITION = Definition(
    id="bake",
    name="Bake",
    version=4,
    description="From dough to bread",
    inputs=(InputDeclaration(name="grams", type="integer", required=True, default=500, editor="number"),),
    outputs=(OutputDeclaration(name="loaf", type="string", display_name="The loaf"),),
    variables=(
        Variable(name="heat", type="number", default=220.5, storage=Storage.MEMORY),
        Variable(name="spices", type="list[string]", default=["salt"], id="s-1"),
    ),
    outcomes=("Good",),
    options=DefinitionOptions(
        activation=ActivationStrategy.SINGLETON,
        commit="periodic:PT5S",
        journal="off",
        timeout=timedelta(hours=1),
        flowchart_mode="token",
    ),
    labels=("food",),
    metadata={"author": "Ann"},
    extra={"later": [1, 2]},
    root=ActivityNode(
        id="chart",
        type="Flowchart",
        ports={
            "activities": (
                ActivityNode(
                    id="try",
                    type="Try",
                    ports={
                        "body": ActivityNode(
                            id="ask", type="acme.ask", inputs={"q": Expression("liquid", "{{ x }}"), "n": 3}
                        ),
                        "catches": (
                            PortEntry(
                                data={"errors": "TimeoutError", "when": Expression("javascript", "true")},
                                activities={"activity": ActivityNode(id="sorry", type="WriteLine")},
                            ),
                        ),
                        "steps": (ActivityNode(id="s1", type="Break"),),
                    },
                ),
                ActivityNode(
                    id="each",
                    type="ParallelForEach",
                    inputs={"items": Expression("variable", "spices"), "limit": 3},
                    options=_OPTIONS,
                    metadata={"position": {"x": 1, "y": 2}, "description": "One by one", "colour": "red"},
                    extra={"note": {"a": 1}},
                ),
                ActivityNode(
                    id="use",
                    type="Workflow",
                    inputs={"grams": Expression("input", "grams")},
                    outputs={"loaf": "loaf"},
                    extra={"workflow": {"id": "w", "version_id": "w-2", "name": "Weigh", "version": 2}},
                ),
            )
        },
        connections=(
            Connection(source="try", target="each", outcome="Done", delay=timedelta(seconds=5)),
            Connection(source="each", target="use", metadata={"vertices": [{"x": 1, "y": 1}], "label": "next"}),
        ),
    ),
)


def test_a_definition_of_ours_comes_back_through_elsa() -> None:
    document, problems = write_elsa(_DEFINITION)
    found, _ = read_elsa(json.loads(json.dumps(document)))
    assert found is not None
    assert _without_residue(found) == _DEFINITION
    assert {problem.path for problem in problems if problem.code == "not-in-elsa"} == {
        "",
        "/inputs/0",
        "/root/activities/0/type",
        "/root/activities/0/body/type",
        "/root/activities/1/options",
        "/root/activities/1/inputs",
        "/root/connections/0/delay",
    }


def _without_residue(definition: Definition) -> Definition:
    def stripped(metadata: Any) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if key != "elsa"}

    def clean(value: Any) -> Any:
        if isinstance(value, ActivityNode):
            return msgspec.structs.replace(
                value,
                metadata=stripped(value.metadata),
                ports={name: clean(port) for name, port in value.ports.items()},
                connections=tuple(
                    msgspec.structs.replace(each, metadata=stripped(each.metadata)) for each in value.connections
                ),
            )
        if isinstance(value, PortEntry):
            return PortEntry(
                data=value.data, activities={name: clean(child) for name, child in value.activities.items()}
            )
        return tuple(clean(item) for item in value) if isinstance(value, tuple) else value

    root = clean(definition.root)
    return msgspec.structs.replace(definition, metadata=stripped(definition.metadata), root=root)


# -- documents that are not as they should be --------------------------------------------------------------------------

_DOCUMENTS = [json.loads(file.read_bytes().decode("utf-8-sig")) for file in _OURS]
_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, 1.5, "", "{", [], [1], [{}], {}),
        {"type": "Elsa.WriteLine"},
        {"type": 1},
        {"$values": [1, None]},
        {"expression": {"type": 5, "value": {}}, "typeName": 5},
        {"holdfast": {"options": {"retry": 5}, "inputs": 5, "extra": 3, "labels": 4, "metadata": 9}},
    ]
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every object or list in a document, with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in items for place in ((value, key), *_places(item))]


@given(data=st.data())
def test_a_spoilt_document_is_read_without_an_exception_and_comes_back_as_it_was_read(data: st.DataObject) -> None:
    document = copy.deepcopy(data.draw(st.sampled_from(_DOCUMENTS)))
    holder, key = data.draw(st.sampled_from(_places(document)))
    holder[key] = copy.deepcopy(data.draw(_ODD))
    definition, problems = read_elsa(document)
    if definition is None:
        assert problems
        return
    written, _ = write_elsa(definition)
    again, _ = read_elsa(json.loads(json.dumps(written)))
    assert again is not None
    assert write_elsa(again)[0] == written
