from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.model.descriptor import (
    ActivityDescriptor,
    InputDescriptor,
    OutputDescriptor,
    PortDescriptor,
    PortKind,
)
from holdfast.model.problem import Severity
from holdfast.model.reader import parse_definition, read_definition
from holdfast.model.scope import Names
from holdfast.model.validate import validate
from holdfast.model.values import TypeRegistry

DESCRIPTORS = {
    item.type: item
    for item in [
        ActivityDescriptor(type="Sequence", ports=(PortDescriptor(name="activities", kind=PortKind.MANY),)),
        ActivityDescriptor(type="Flowchart", ports=(PortDescriptor(name="activities", kind=PortKind.MANY),)),
        ActivityDescriptor(type="Start", start=True),
        ActivityDescriptor(type="Event", trigger=True, inputs=(InputDescriptor(name="name", required=True),)),
        ActivityDescriptor(
            type="WriteLine",
            inputs=(InputDescriptor(name="text", type="string"), InputDescriptor(name="n", type="integer")),
        ),
        ActivityDescriptor(
            type="If",
            inputs=(InputDescriptor(name="condition", type="boolean", required=True),),
            outputs=(OutputDescriptor(name="result", type="boolean"),),
            ports=(PortDescriptor(name="then"), PortDescriptor(name="otherwise")),
        ),
        ActivityDescriptor(
            type="ForEach",
            inputs=(InputDescriptor(name="items", type="list"),),
            ports=(PortDescriptor(name="body", variables=("current_value",)),),
        ),
        ActivityDescriptor(type="Decision", outcomes=("True", "False")),
        ActivityDescriptor(
            type="Choice",
            outcomes=("Default",),
            dynamic_outcomes=True,
            inputs=(InputDescriptor(name="names", type="list[string]"),),
            ports=(PortDescriptor(name="cases", kind=PortKind.ENTRIES),),
        ),
        ActivityDescriptor(
            type="Catch", ports=(PortDescriptor(name="catches", kind=PortKind.ENTRIES, keys=("errors", "activity")),)
        ),
    ]
}


class Letters:
    """A language of names: knows the variables in scope, nothing else."""

    def compile(self, source: Any, names: Names) -> None:
        if not str(source).isidentifier():
            raise ExpressionSyntax(f"'{source}' is no name.", language="letters", source=source)
        if names.variable(source) is None:
            raise ExpressionRefused(f"Unknown name '{source}'.", language="letters", source=source)


LANGUAGES = {"letters": Letters()}


def found(document: dict[str, Any], **more: Any) -> set[tuple[str, str]]:
    definition = parse_definition({"id": "d", **document}, trusted=True)
    problems = validate(definition, descriptors=DESCRIPTORS, **{"languages": LANGUAGES, **more})
    assert all(problem.message and problem.remedy for problem in problems)
    return {(problem.path, problem.code) for problem in problems}


def sequence(*activities: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"type": "Sequence", "id": "root", "activities": list(activities), **keys}


def flowchart(*activities: dict[str, Any], edges: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Flowchart", "id": "root", "activities": list(activities), "connections": edges}


def edge(source: str, target: str, outcome: str | None = None) -> dict[str, Any]:
    return {"from": source, "to": target, **({"outcome": outcome} if outcome else {})}


GOOD: dict[str, Any] = {
    "name": "Good",
    "inputs": [{"name": "who", "type": "string"}],
    "outputs": [{"name": "answer"}],
    "variables": [{"name": "x", "type": "integer", "default": "5", "id": "v1"}],
    "options": {"usable_as_activity": True, "flowchart_mode": "token", "commit": "periodic:PT5S", "journal": "include"},
    "root": flowchart(
        {"type": "Start", "id": "s"},
        {
            "type": "If",
            "id": "if",
            "inputs": {"condition": {"$letters": "who"}},
            "outputs": {"result": "answer"},
            "then": {"type": "WriteLine", "id": "w", "inputs": {"text": {"$variable": "x"}}},
        },
        {
            "type": "ForEach",
            "id": "each",
            "inputs": {"items": {"$variable": "v1"}},
            "variables": [{"name": "y"}],
            "body": {
                "type": "If",
                "id": "inner",
                "inputs": {"condition": {"$letters": "current_value"}},
                "outputs": {"result": "y"},
            },
        },
        {"type": "Choice", "id": "choice", "cases": [{"label": "Red", "condition": {"$letters": "x"}}]},
        {"type": "WriteLine", "id": "last", "inputs": {"text": {"$input": "who"}, "n": "7"}},
        edges=[
            edge("s", "if"),
            edge("if", "each", "Done"),
            edge("each", "choice"),
            edge("choice", "last", "Red"),
            edge("choice", "s", "Default"),
        ],
    ),
}


def test_a_good_definition_has_no_problems() -> None:
    assert found(GOOD) == set()


@pytest.mark.parametrize(
    ("root", "path", "code"),
    [
        (
            sequence({"type": "If", "id": "a", "inputs": {"condition": 1}}, {"type": "Start", "id": "a"}),
            "1/id",
            "duplicate-id",
        ),
        (sequence({"type": "Writeline"}), "0/type", "unknown-type"),
        (sequence({"type": "WriteLine", "version": 2}), "0/version", "unknown-version"),
        (sequence({"type": "WriteLine", "inputs": {"txt": 1}}), "0/inputs/txt", "unknown-input"),
        (sequence({"type": "If"}), "0/inputs/condition", "missing-input"),
        (sequence({"type": "If", "inputs": {"condition": None}}), "0/inputs/condition", "missing-input"),
        (sequence({"type": "WriteLine", "inputs": {"n": "x"}}), "0/inputs/n", "invalid-literal"),
        (sequence({"type": "WriteLine", "inputs": {"n": {"$literal": "x"}}}), "0/inputs/n", "invalid-literal"),
        (
            sequence({"type": "WriteLine", "outputs": {"r": "x"}}, variables=[{"name": "x"}]),
            "0/outputs/r",
            "unknown-output",
        ),
        (sequence({"type": "WriteLine", "then": {"type": "Start"}}), "0/then", "unknown-port"),
        (
            sequence({"type": "Catch", "catches": [{"errors": []}, {"handler": {"type": "Start"}}]}),
            "0/catches/1/handler",
            "unknown-key",
        ),
        (
            sequence({"type": "Catch", "catches": [{"error": ["X"], "metadata": {}}]}),
            "0/catches/0/error",
            "unknown-key",
        ),
        (sequence({"type": "WriteLine", "text": "hi"}), "0/text", "misplaced-input"),
        (sequence({"type": "WriteLine", "can_start": True}), "0/can_start", "misplaced-option"),
        (sequence({"type": "WriteLine", "inptus": {"text": "hi"}}), "0/inptus", "unknown-key"),
        (sequence({"type": "ForEach", "body": {"id": "x"}}), "0/body", "missing-type"),
        (sequence({"type": "ForEach", "body": [{"type": "Start"}]}), "0/body", "wrong-port-kind"),
        (
            sequence({"type": "Sequence", "activities": [{"type": "Start"}, {"id": "x"}]}),
            "0/activities",
            "missing-type",
        ),
        (sequence({"type": "ForEach", "inputs": {"items": {"$variable": "z"}}}), "0/inputs/items", "unknown-variable"),
        (sequence({"type": "ForEach", "inputs": {"items": {"$input": "z"}}}), "0/inputs/items", "unknown-input"),
        (sequence({"type": "ForEach", "inputs": {"items": {"$nope": "z"}}}), "0/inputs/items", "unknown-language"),
        (sequence({"type": "ForEach", "inputs": {"items": {"$letters": "1"}}}), "0/inputs/items", "expression-syntax"),
        (sequence({"type": "ForEach", "inputs": {"items": {"$letters": "z"}}}), "0/inputs/items", "expression-refused"),
        (sequence({"type": "ForEach", "inputs": {"items": {"$code": "z"}}}), "0/inputs/items", "code-not-allowed"),
        (sequence({"type": "Choice", "cases": [{"c": {"$letters": "1"}}]}), "0/cases/0/c", "expression-syntax"),
        (sequence({"type": "Start", "options": {"can_start": True}}), "0/options/can_start", "not-a-trigger"),
        (sequence({"type": "Start", "options": {"commit": "often"}}), "0/options/commit", "unknown-mode"),
        (sequence({"type": "Start", "options": {"commit": "periodic:x"}}), "0/options/commit", "invalid-duration"),
        (
            sequence({"type": "Start", "options": {"retry": {"attempts": 0}}}),
            "0/options/retry/attempts",
            "invalid-retry",
        ),
        (
            sequence({"type": "Start", "options": {"journal": {"inputs": {"a": "maybe"}}}}),
            "0/options/journal/inputs/a",
            "unknown-mode",
        ),
        (
            sequence({"type": "Start", "variables": [{"name": "a"}, {"name": "a"}]}),
            "0/variables/1/name",
            "duplicate-name",
        ),
        (
            sequence({"type": "Start", "variables": [{"name": "a", "type": "strng"}]}),
            "0/variables/0/type",
            "unknown-value-type",
        ),
        (
            sequence({"type": "Start", "variables": [{"name": "a", "type": "integer", "default": "x"}]}),
            "0/variables/0/default",
            "invalid-default",
        ),
    ],
)
def test_problems_of_activities(root: dict[str, Any], path: str, code: str) -> None:
    assert found({"root": root}) == {(f"/root/activities/{path}", code)}


@pytest.mark.parametrize(
    ("keys", "path", "code"),
    [
        ({"variabels": []}, "/variabels", "unknown-key"),
        ({"transient": True}, "/transient", "misplaced-option"),
        ({"inputs": [{"name": "a"}, {"name": "a"}]}, "/inputs/1/name", "duplicate-name"),
        ({"outputs": [{"name": "a"}, {"name": "a"}]}, "/outputs/1/name", "duplicate-name"),
        ({"outcomes": ["A", "A"]}, "/outcomes/1", "duplicate-name"),
        ({"options": {"usable_as_activity": True}}, "/name", "activity-without-name"),
        ({"options": {"flowchart_mode": "tokens"}}, "/options/flowchart_mode", "unknown-mode"),
        ({"options": {"journal": "all"}}, "/options/journal", "unknown-mode"),
        ({"options": {"commit": "sometimes"}}, "/options/commit", "unknown-mode"),
    ],
)
def test_problems_of_the_workflow(keys: dict[str, Any], path: str, code: str) -> None:
    assert found({"root": sequence(), **keys}) == {(path, code)}


@pytest.mark.parametrize(
    ("edges", "path", "code"),
    [
        ([edge("a", "d"), edge("a", "b"), edge("a", "c")], "connections/0/to", "unknown-activity"),
        ([edge("d", "a"), edge("a", "b"), edge("a", "c")], "connections/0/from", "unknown-activity"),
        ([edge("a", "b", "Maybe"), edge("a", "c", "True")], "connections/0/outcome", "unknown-outcome"),
        ([edge("a", "b", "True")], "activities/2", "unreachable"),
        ([edge("a", "b"), edge("a", "c"), edge("b", "c"), edge("c", "b")], "connections/3", "invalid-loop"),
    ],
)
def test_problems_of_flowcharts(edges: list[dict[str, Any]], path: str, code: str) -> None:
    children = [{"type": "Decision", "id": "a"}, {"type": "Start", "id": "b"}, {"type": "WriteLine", "id": "c"}]
    children[1]["type"] = "WriteLine"
    assert found({"root": flowchart(*children, edges=edges)}) == {(f"/root/{path}", code)}


def test_loops_are_free_in_token_mode() -> None:
    children = [{"type": "WriteLine", "id": name} for name in "abc"]
    edges = [edge("a", "b"), edge("a", "c"), edge("b", "c"), edge("c", "b")]
    assert found({"root": flowchart(*children, edges=edges), "options": {"flowchart_mode": "token"}}) == set()


def test_every_trigger_is_a_start() -> None:
    triggers = [{"type": "Event", "id": n, "inputs": {"name": n}, "options": {"can_start": True}} for n in "ab"]
    writers = [{"type": "WriteLine", "id": n} for n in "cd"]
    edges = [edge("a", "c"), edge("b", "d")]
    assert found({"root": flowchart(*triggers, *writers, edges=edges)}) == set()


@pytest.mark.parametrize(
    ("keys", "outcome", "known"),
    [
        ({"inputs": {"names": ["Red"]}}, "Red", True),
        ({"inputs": {"names": ["Red"]}}, "Blue", False),
        ({"inputs": {"names": {"$letters": "x"}}}, "Blue", True),
        ({"cases": [{"label": "Red"}]}, "Red", True),
        ({"cases": [{"label": "Red"}]}, "Blue", False),
    ],
)
def test_outcomes_may_come_from_inputs_and_entries(keys: dict[str, Any], outcome: str, known: bool) -> None:
    root = flowchart(
        {"type": "Choice", "id": "a", **keys}, {"type": "WriteLine", "id": "b"}, edges=[edge("a", "b", outcome)]
    )
    codes = {code for _, code in found({"root": root, "variables": [{"name": "x"}]})}
    assert codes == (set() if known else {"unknown-outcome"})


def test_below_an_unknown_type_names_are_not_judged() -> None:
    inner = {"type": "If", "id": "i", "inputs": {"condition": {"$letters": "who"}}, "outputs": {"result": "there"}}
    assert found({"root": {"type": "Mystery", "id": "m", "body": inner}}) == {("/root/type", "unknown-type")}


def test_unknown_targets_name_what_there_is() -> None:
    root = {"type": "If", "id": "i", "inputs": {"condition": True}, "outputs": {"result": "anser"}}
    definition = parse_definition({"id": "d", "root": root, "outputs": [{"name": "answer"}]})
    (problem,) = validate(definition, descriptors=DESCRIPTORS, languages=None)
    assert problem.code == "unknown-target"
    assert "Did you mean 'answer'?" in problem.remedy


def test_names_of_elsa_types_are_guessed() -> None:
    (problem,) = validate(
        parse_definition({"id": "d", "root": {"type": "Elsa.WriteLine"}}), descriptors=DESCRIPTORS, languages=None
    )
    assert "Did you mean 'WriteLine'?" in problem.remedy


@dataclass
class Order:
    id: str


def test_classes_are_checked_where_a_registry_is_given() -> None:
    types = TypeRegistry([Order])
    name = types.name_of(Order)
    document = {
        "root": sequence(),
        "variables": [{"name": "a", "type": name, "default": {"id": 5}}, {"name": "b", "type": "x:Other"}],
    }
    assert found(document) == set()
    assert found(document, types=types) == {
        ("/variables/0/default", "invalid-default"),
        ("/variables/1/type", "unknown-value-type"),
    }


def test_own_commit_strategies_and_trusted_code() -> None:
    root = sequence({"type": "ForEach", "inputs": {"items": {"$code": "z"}}})
    languages = {**LANGUAGES, "code": Letters()}
    codes = found(
        {"root": root, "options": {"commit": "mine"}, "variables": [{"name": "z"}]},
        trusted=True,
        languages=languages,
        commit_strategies=["mine"],
    )
    assert codes == set()


def test_workflows_used_as_activities_are_found_by_whoever_knows_them() -> None:
    child = ActivityDescriptor(type="Child", inputs=(InputDescriptor(name="a", required=True),), outcomes=("Paid",))
    root = flowchart(
        {"type": "Child", "id": "c"},
        {"type": "WriteLine", "id": "w"},
        edges=[edge("c", "w", "Paid"), edge("c", "w", "Lost")],
    )
    assert found({"root": root}, find=lambda node: child if node.type == "Child" else None) == {
        ("/root/activities/0/inputs/a", "missing-input"),
        ("/root/connections/1/outcome", "unknown-outcome"),
    }


def test_warnings_do_not_keep_it_from_running() -> None:
    root = flowchart({"type": "Start", "id": "a"}, {"type": "Start", "id": "b"}, edges=[edge("a", "a")])
    (problem,) = validate(parse_definition({"id": "d", "root": root}), descriptors=DESCRIPTORS)
    assert problem.severity is Severity.WARNING


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.sampled_from(list(DESCRIPTORS)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("id type inputs outputs activities connections then body cases from to $letters a".split()),  # noqa: SIM905
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(DESCRIPTORS)), st.dictionaries(st.sampled_from(["inputs", "then", "cases"]), json_values))
def test_whatever_was_read_can_be_validated(type_name: str, keys: dict[str, Any]) -> None:
    definition, _ = read_definition({"id": "d", "root": {**keys, "type": type_name}})
    assert definition is not None
    assert isinstance(validate(definition, descriptors=DESCRIPTORS, languages=LANGUAGES), list)


@pytest.mark.parametrize("id", ["a/b", "..", "."])
def test_an_id_that_no_address_reaches_is_refused(id: str) -> None:
    assert found({"id": id, "root": {"type": "Start"}}) == {("/id", "unreachable-id")}


def test_any_other_id_will_do() -> None:
    assert found({"id": "Größe 7 & mehr: #1?", "root": {"type": "Start"}}) == set()
