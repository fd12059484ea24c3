from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from holdfast.errors import InvalidDefinition
from holdfast.model.definition import ActivityNode, Connection, Expression, IncidentStrategy, PortEntry, Storage
from holdfast.model.policy import MergeMode, Retry
from holdfast.model.reader import parse_definition, read_definition, read_node, read_text
from holdfast.model.writer import write_definition


def codes(document: Any) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in read_definition(document)[1]}


def root(**keys: Any) -> dict[str, Any]:
    return {"id": "d", "root": {"type": "Sequence", "id": "s", **keys}}


FULL: dict[str, Any] = {
    "$schema": "holdfast.json",
    "format": "holdfast/definition@1",
    "id": "order",
    "name": "Order",
    "version": 3,
    "description": "An order.",
    "inputs": [{"name": "id", "type": "string", "required": True, "editor": "singleline"}],
    "outputs": [{"name": "total", "type": "decimal"}],
    "variables": [
        {"name": "rate", "type": "decimal", "default": {"$t": "decimal", "v": "0.20"}, "storage": "memory", "id": "v1"}
    ],
    "outcomes": ["Paid"],
    "root": {
        "type": "Flowchart",
        "id": "flow",
        "name": "Flow",
        "version": 2,
        "activities": [
            {"type": "Start", "id": "start"},
            {
                "type": "Switch",
                "id": "switch",
                "inputs": {"mode": "match_any", "like": {"$literal": {"$python": "x"}}, "text": {"$python": "a + 1"}},
                "outputs": {"result": "total"},
                "cases": [
                    {"label": "A", "condition": {"$javascript": "x"}, "activity": {"type": "Break", "id": "b"}},
                    {"label": "B", "data": {"type": "string", "name": "n"}},
                ],
                "default": {"type": "If", "id": "if", "then": {"type": "End", "id": "end"}},
                "unknown": {"kept": [1, None]},
            },
        ],
        "variables": [{"name": "x"}],
        "connections": [
            {"from": "start", "to": "switch", "outcome": "Done", "delay": "PT30S", "metadata": {"vertices": []}}
        ],
        "options": {
            "retry": {"attempts": 5, "delay": "PT2S", "on": ["ValueError"]},
            "timeout": "P1D",
            "journal": {"default": "exclude", "inputs": {"a": "include"}},
            "merge": "cascade",
            "can_start": True,
        },
        "metadata": {"position": {"x": 1, "y": 2}},
    },
    "options": {"incident": "continue_with_incidents", "timeout": "PT1H", "usable_as_activity": True},
    "labels": ["shop"],
    "future": {"a": 1},
    "metadata": {"author": "me"},
}


def test_a_full_document_is_read() -> None:
    definition = parse_definition(FULL)
    flow = definition.root
    start, switch = flow.ports["activities"]
    assert definition.variables[0].default == Decimal("0.20")
    assert definition.variables[0].storage is Storage.MEMORY
    assert definition.options.incident == IncidentStrategy.CONTINUE
    assert definition.extra == {"$schema": "holdfast.json", "future": {"a": 1}}
    assert flow.options.retry == Retry(attempts=5, delay=timedelta(seconds=2), on=("ValueError",))
    assert flow.options.merge is MergeMode.CASCADE
    assert flow.connections[0].delay == timedelta(seconds=30)
    assert start == ActivityNode(id="start", type="Start")
    assert switch.inputs == {
        "mode": "match_any",
        "like": {"$python": "x"},
        "text": Expression("python", "a + 1"),
    }
    first, second = switch.ports["cases"]
    assert first.data == {"label": "A", "condition": Expression("javascript", "x")}
    assert first.activities == {"activity": ActivityNode(id="b", type="Break")}
    assert second == PortEntry(data={"label": "B", "data": {"type": "string", "name": "n"}})
    assert switch.ports["default"].ports["then"].id == "end"
    assert switch.extra == {"unknown": {"kept": [1, None]}}


def test_a_full_document_is_written_as_it_was_read() -> None:
    written = write_definition(parse_definition(FULL))
    assert written == FULL
    assert list(written) == list(FULL)
    assert list(written["root"]) == list(FULL["root"])


def test_a_small_document_needs_only_a_name_and_a_root() -> None:
    definition = parse_definition({"name": "My Order!", "root": {"type": "shop.WriteLine"}})
    assert (definition.id, definition.version, definition.root.id) == ("my-order", 1, "WriteLine1")


def test_made_up_ids_are_free_and_follow_the_types() -> None:
    activities = [
        {"type": "WriteLine"},
        {"type": "WriteLine", "id": "WriteLine1"},
        {"type": "WriteLine"},
        {"type": "§"},
    ]
    definition = parse_definition(root(activities=activities))
    assert [child.id for child in definition.root.children()] == ["WriteLine2", "WriteLine1", "WriteLine3", "Activity1"]


def test_only_the_outermost_level_of_an_input_is_an_expression() -> None:
    inputs = {
        "a": {"$python": "1"},
        "b": [{"$python": "1"}],
        "c": {"deep": {"$python": "1"}},
        "d": {"$python": "1", "$liquid": "2"},
        "e": {"$literal": {"$t": "tuple", "v": [1]}},
        "f": {"$t": "decimal", "v": "1"},
        "g": {"$own": {"any": "thing"}},
    }
    node = parse_definition(root(inputs=inputs)).root
    assert node.inputs == {
        "a": Expression("python", "1"),
        "b": [{"$python": "1"}],
        "c": {"deep": {"$python": "1"}},
        "d": {"$python": "1", "$liquid": "2"},
        "e": Expression("literal", (1,)),
        "f": Decimal(1),
        "g": Expression("own", {"any": "thing"}),
    }


def test_an_activity_in_an_entry_may_be_only_a_type() -> None:
    entry = parse_definition(root(cases=[{"activity": {"type": "Break"}}])).root.ports["cases"][0]
    assert entry.activities["activity"].id == "Break1"


@pytest.mark.parametrize(
    "activity",
    [
        {"type": "Sequence", "activities": [{"type": "Break"}]},
        {"type": "Scope", "body": {"type": "Break"}},
        {"type": "Try", "catches": [{"activity": {"type": "Break"}}], "body": {"type": "Break"}},
    ],
)
def test_an_activity_in_an_entry_may_have_children_and_nothing_else(activity: dict[str, Any]) -> None:
    entry = parse_definition(root(catches=[{"activity": activity}])).root.ports["catches"][0]
    assert entry.activities["activity"].type == activity["type"]
    assert not entry.data


def test_data_in_an_entry_may_have_a_type() -> None:
    shape = {"type": "circle", "size": [1, 2], "place": {"x": 1}}
    entry = parse_definition(root(cases=[{"shape": shape}])).root.ports["cases"][0]
    assert entry.data == {"shape": shape}
    assert not entry.activities


def test_code_is_refused_wherever_an_expression_may_stand() -> None:
    document = root(
        inputs={"a": {"$code": "import os"}},
        cases=[{"condition": {"$code": "1"}, "activity": {"type": "If", "id": "i", "inputs": {"c": {"$code": "1"}}}}],
        then={"type": "If", "id": "j", "inputs": {"c": {"$code": "1"}}},
    )
    assert codes(document) == {
        ("/root/inputs/a", "code-not-allowed"),
        ("/root/cases/0/condition", "code-not-allowed"),
        ("/root/cases/0/activity/inputs/c", "code-not-allowed"),
        ("/root/then/inputs/c", "code-not-allowed"),
    }
    definition, problems = read_definition(document, trusted=True)
    assert not problems
    assert definition is not None
    assert definition.root.inputs["a"] == Expression("code", "import os")


@pytest.mark.parametrize(
    ("document", "path", "code"),
    [
        (None, "", "not-an-object"),
        ([], "", "not-an-object"),
        ({"id": "x"}, "/root", "missing-root"),
        ({"id": "x", "root": {}}, "/root", "missing-type"),
        ({"id": "x", "root": []}, "/root", "wrong-kind"),
        ({"root": {"type": "A"}}, "", "missing-id"),
        ({"id": 5, "root": {"type": "A"}}, "/id", "wrong-kind"),
        ({"id": "x", "version": 0, "root": {"type": "A"}}, "/version", "wrong-kind"),
        ({"id": "x", "version": True, "root": {"type": "A"}}, "/version", "wrong-kind"),
        ({"id": "x", "outcomes": [1], "root": {"type": "A"}}, "/outcomes", "wrong-kind"),
        ({"id": "x", "inputs": [{}], "root": {"type": "A"}}, "/inputs/0", "missing-key"),
        ({"id": "x", "inputs": [5], "root": {"type": "A"}}, "/inputs/0", "wrong-kind"),
        ({"id": "x", "inputs": {}, "root": {"type": "A"}}, "/inputs", "wrong-kind"),
        ({"id": "x", "options": [], "root": {"type": "A"}}, "/options", "wrong-kind"),
        ({"id": "x", "options": {"timeot": 1}, "root": {"type": "A"}}, "/options/timeot", "unknown-key"),
        ({"id": "x", "options": {"activation": 5}, "root": {"type": "A"}}, "/options/activation", "wrong-kind"),
        ({"format": "holdfast/definition@2", "id": "x", "root": {"type": "A"}}, "/format", "newer-format"),
        ({"format": "elsa", "id": "x", "root": {"type": "A"}}, "/format", "unknown-format"),
        ({"definitionId": "x", "root": {"type": "Elsa.Sequence"}}, "", "elsa-document"),
        (root(type=""), "/root/type", "missing-type"),
        (root(id=""), "/root/id", "wrong-kind"),
        (root(inputs=[]), "/root/inputs", "wrong-kind"),
        (root(outputs={"a": 5}), "/root/outputs/a", "wrong-kind"),
        (root(options={"timeout": "soon"}), "/root/options/timeout", "invalid-duration"),
        (root(options={"timeout": 5}), "/root/options/timeout", "invalid-duration"),
        (root(options={"retry": {"attempts": "x"}}), "/root/options/retry/attempts", "wrong-kind"),
        (root(options={"merge": "mix"}), "/root/options/merge", "wrong-kind"),
        (root(options=0), "/root/options", "wrong-kind"),
        (root(connections=[{"from": "a"}]), "/root/connections/0", "missing-key"),
        (root(variables=[{"name": "x", "storage": "disk"}]), "/root/variables/0/storage", "wrong-kind"),
        (root(inputs={"a": {"$t": "nope", "v": 1}}), "/root/inputs/a", "invalid-value"),
        (root(inputs={"a": {"$python": 5}}), "/root/inputs/a/$python", "wrong-kind"),
        (root(inputs={"a/b": {"$": 5}}), "/root/inputs/a~1b", "invalid-expression"),
        (root(then={"type": "If", "inputs": 5}), "/root/then/inputs", "wrong-kind"),
        (root(activities=[{"type": "If"}, {"type": "If", "version": 1.5}]), "/root/activities/1/version", "wrong-kind"),
    ],
)
def test_problems_have_a_place_and_a_stable_code(document: Any, path: str, code: str) -> None:
    assert codes(document) == {(path, code)}
    _, problems = read_definition(document)
    assert all(problem.message and problem.remedy for problem in problems)
    with pytest.raises(InvalidDefinition):
        parse_definition(document)


def test_all_problems_come_at_once() -> None:
    document = {
        "version": "x",
        "inputs": [{"name": "a"}, {"nam": "b"}],
        "root": {"type": "If", "inputs": {"a": {"$code": "1"}}, "then": {"type": "X", "options": {"timeout": "?"}}},
    }
    assert codes(document) == {
        ("/version", "wrong-kind"),
        ("", "missing-id"),
        ("/inputs/1/nam", "unknown-key"),
        ("/inputs/1", "missing-key"),
        ("/root/inputs/a", "code-not-allowed"),
        ("/root/then/options/timeout", "invalid-duration"),
    }
    definition, _ = read_definition(document)
    assert definition is not None
    assert definition.root.ports["then"].type == "X"


def test_a_document_nested_too_deep_is_a_problem() -> None:
    deep: Any = {"type": "A"}
    for _ in range(3000):
        deep = {"type": "If", "then": deep}
    assert codes({"id": "x", "root": deep}) == {("", "too-deep")}
    assert read_node(deep)[1][0].code == "too-deep"
    assert read_text('{"a":' + "[" * 100_000)[1][0].code in {"not-json", "too-deep"}


def test_text_is_read_with_and_without_a_mark() -> None:
    text = '{"id": "x", "root": {"type": "A"}}'
    for given_text in (text, text.encode(), b"\xef\xbb\xbf" + text.encode()):
        definition, problems = read_text(given_text)
        assert definition is not None
        assert not problems
    for broken in ("{", b"\xff\xfe", "\ud800", ""):
        assert read_text(broken)[1][0].code == "not-json"


def test_one_activity_can_be_read_alone() -> None:
    node, problems = read_node({"type": "If", "then": {"type": "If"}})
    assert not problems
    assert node is not None
    assert [each.id for each in node.walk()] == ["If2", "If1"]
    assert read_node({"id": "x"}, path="/a")[1][0].path == "/a"


# -- whatever JSON there is --------------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        *("id", "type", "name", "version", "inputs", "outputs", "variables", "connections", "options", "metadata"),
        *("root", "format", "labels", "outcomes", "then", "activities", "cases", "retry", "timeout", "delay", "from"),
        *("to", "storage", "default", "$python", "$code", "$literal", "$t", "v", "of"),
    ]
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["Sequence", "PT5S", "holdfast/definition@1", "memory", "decimal", "dict"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=6),
    max_leaves=30,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(json_values, st.dictionaries(KEYS, json_values, max_size=5), st.dictionaries(KEYS, json_values, max_size=5))
def test_no_json_whatever_raises(anything: Any, keys: dict[str, Any], root_keys: dict[str, Any]) -> None:
    for document in (anything, keys, {**keys, "root": {**root_keys, "type": "Sequence"}}):
        definition, problems = read_definition(document)
        assert definition is not None or problems
        for problem in problems:
            assert problem.code
            assert problem.message
        if definition is not None and not problems:
            again, more = read_definition(msgspec.json.decode(msgspec.json.encode(write_definition(definition))))
            assert not more
            assert again is not None
            assert write_definition(again) == write_definition(definition)


def test_a_connection_is_read_by_its_names_in_the_document() -> None:
    node = parse_definition(root(connections=[{"from": "a", "to": "b"}])).root
    assert node.connections == (Connection(source="a", target="b"),)


def test_ids_and_names_that_no_column_keeps_are_told_and_data_is_left_alone() -> None:
    line = {"type": "WriteLine", "id": "say", "inputs": {"text": {"id": "a\0b"}}}
    wrong = {"id": "a\0b", "name": "half \ud800", "root": {"type": "Sequence", "id": "x\0", "activities": [line]}}

    _, problems = read_definition(wrong)

    assert [(item.path, item.code) for item in problems if item.code == "unstorable-text"] == [
        ("/root/id", "unstorable-text"),
        ("/id", "unstorable-text"),
        ("/name", "unstorable-text"),
    ]
