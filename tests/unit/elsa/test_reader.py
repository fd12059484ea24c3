"""Elsa documents: recognised, read, and everything that does not carry over reported with its place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from holdfast.elsa import elsa_status, is_elsa, parse_elsa, read_elsa, write_elsa
from holdfast.errors import ConversionError, InvalidDefinition
from holdfast.model.definition import (
    ActivationStrategy,
    Connection,
    Definition,
    DefinitionOptions,
    IncidentStrategy,
    InputDeclaration,
    OutputDeclaration,
    Storage,
    Variable,
)
from holdfast.model.instance import Status
from holdfast.model.policy import ActivityOptions, JournalRule, MergeMode
from holdfast.model.problem import Problem, Severity


def _line(activity_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": activity_id, "type": "Elsa.WriteLine", **fields}


def _chart(activities: list[dict[str, Any]], connections: list[Any], **fields: Any) -> dict[str, Any]:
    root = {"id": "chart", "type": "Elsa.Flowchart", "activities": activities, "connections": connections, **fields}
    return {"definitionId": "d", "root": root}


def _read(document: Any) -> tuple[Definition, list[Problem]]:
    definition, problems = read_elsa(document)
    assert definition is not None
    return definition, problems


def _found(problems: list[Problem]) -> list[tuple[str, str, Severity]]:
    return [(problem.path, problem.code, problem.severity) for problem in problems]


# -- recognition -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"root": {"type": "Elsa.Sequence"}}, True),
        ({"Root": {"Type": "Elsa.Sequence"}}, True),
        ({"definitionId": "d", "root": {"type": "Custom"}}, True),
        ({"root": {"type": "Custom", "workflowDefinitionId": "x"}}, True),
        ({"$schema": "https://elsaworkflows.io/schemas/x.json", "root": {"type": "Custom"}}, True),
        ({"format": "holdfast/definition@1", "id": "d", "root": {"id": "a", "type": "Sequence"}}, False),
        ({"id": "d", "root": {"id": "a", "type": "Sequence"}}, False),
        ({"definitionId": "d"}, False),
        ("[]", False),
        ("not JSON", False),
        (b'\xef\xbb\xbf{"root": {"type": "Elsa.Sequence"}}', True),
        ('\ufeff{"root": {"type": "Elsa.Sequence"}}', True),
    ],
)
def test_documents_are_recognised(document: Any, expected: bool) -> None:
    assert is_elsa(document) is expected


def test_what_is_no_elsa_document_is_refused_with_the_remedy() -> None:
    with pytest.raises(ConversionError, match="Export it from Elsa"):
        parse_elsa({"id": "d", "root": {"id": "a", "type": "Sequence"}})


def test_reading_never_raises() -> None:
    assert read_elsa("not JSON")[0] is None
    assert [problem.path for problem in read_elsa({"definitionId": "d"})[1]] == ["/root"]


def test_a_document_that_cannot_run_raises_with_all_problems() -> None:
    document = _chart(
        [
            _line("a", text={"typeName": "String", "expression": {"type": "CSharp", "value": "1 + 1"}}),
            {"type": "Acme.Buy"},
        ],
        [],
    )
    with pytest.raises(InvalidDefinition) as raised:
        parse_elsa(document)
    assert [problem.path for problem in raised.value.problems] == [
        "/root/activities/0/text/expression",
        "/root/activities/1/type",
    ]


# -- the definition ----------------------------------------------------------------------------------------------------


def test_a_whole_definition() -> None:
    definition = parse_elsa(
        {
            "id": "greet-v3",
            "definitionId": "greet",
            "name": "Greet",
            "description": "Says hello",
            "version": 3,
            "variables": [
                {
                    "id": "v1",
                    "name": "Count",
                    "typeName": "Int32",
                    "value": "2",
                    "storageDriverTypeName": "MemoryStorageDriver",
                },
                {"id": "Tags", "name": "Tags", "typeName": "String", "isArray": True, "value": '["a"]'},
                {"typeName": "Object"},
            ],
            "inputs": [{"type": "String", "name": "Who", "displayName": "Who is it", "uiHint": "singleline"}],
            "outputs": [{"type": "Int32", "name": "Total", "category": "Primitives"}],
            "outcomes": ["Won", "Lost"],
            "options": {
                "activationStrategyType": "Elsa.Workflows.Runtime.CorrelatedSingletonStrategy, Elsa.Workflows.Runtime",
                "incidentStrategyType": "ContinueWithIncidentsStrategy",
                "commitStrategyName": "ActivityExecuted",
                "usableAsActivity": True,
                "autoUpdateConsumingWorkflows": True,
                "activityCategory": "Greetings",
            },
            "customProperties": {"logPersistenceMode": "Exclude"},
            "root": _line("a"),
        }
    )
    assert (definition.id, definition.name, definition.version) == ("greet", "Greet", 3)
    assert definition.description == "Says hello"
    assert definition.variables == (
        Variable(name="Count", type="integer", default=2, storage=Storage.MEMORY, id="v1"),
        Variable(name="Tags", type="list[string]", default=["a"]),
        Variable(name="Variable3"),
    )
    assert definition.inputs == (
        InputDeclaration(name="Who", type="string", display_name="Who is it", editor="singleline"),
    )
    assert definition.outputs == (OutputDeclaration(name="Total", type="integer", category="Primitives"),)
    assert definition.outcomes == ("Won", "Lost")
    assert definition.options == DefinitionOptions(
        activation=ActivationStrategy.CORRELATED_SINGLETON,
        incident=IncidentStrategy.CONTINUE,
        commit="activity_executed",
        usable_as_activity=True,
        activity_category="Greetings",
        auto_update_consumers=True,
        journal="exclude",
    )


@pytest.mark.parametrize(
    ("elsa", "ours"),
    [
        ("WorkflowExecuting", "workflow_executing"),
        ("WorkflowExecuted", "workflow_executed"),
        ("ActivityExecuting", "activity_executing"),
        ("ActivityExecuted", "activity_executed"),
        ("Periodic", "periodic"),
    ],
)
def test_commit_strategies_of_a_workflow(elsa: str, ours: str) -> None:
    definition, problems = _read({"definitionId": "d", "options": {"commitStrategyName": elsa}, "root": _line("a")})

    assert definition.options.commit == ours
    assert problems == []


def test_a_commit_strategy_of_an_elsa_host_is_kept_with_a_warning() -> None:
    line = _line("a", customProperties={"commitStrategyName": "Sometimes"})
    definition, problems = _read({"definitionId": "d", "options": {"commitStrategyName": "Nightly"}, "root": line})

    assert (definition.options.commit, definition.root.options.commit) == ("Nightly", "Sometimes")
    assert _found(problems) == [
        ("/root/customProperties/commitStrategyName", "commit-strategy", Severity.WARNING),
        ("/options/commitStrategyName", "commit-strategy", Severity.WARNING),
    ]
    assert "Known: workflow_executing" in problems[0].message
    assert "CommitAlways, CommitNever, Executing, Executed" in problems[0].remedy


def test_usable_as_activity_at_its_old_place() -> None:
    assert parse_elsa({"definitionId": "d", "usableAsActivity": True, "root": _line("a")}).options.usable_as_activity


@pytest.mark.parametrize(
    ("document", "expected"),
    [({"id": "v", "name": "N"}, "v"), ({"name": "N"}, "N"), ({"definitionId": "d", "id": "v"}, "d")],
)
def test_a_definition_always_has_an_id(document: dict[str, Any], expected: str) -> None:
    assert parse_elsa({**document, "root": _line("a")}).id == expected


def test_a_made_id_is_the_same_each_time() -> None:
    document = {"root": _line("a")}
    assert parse_elsa(document).id == parse_elsa(document).id


def test_unknown_value_types_and_bad_defaults_are_warned_of() -> None:
    definition, problems = _read(
        {
            "definitionId": "d",
            "variables": [
                {"name": "A", "typeName": "Acme.Order, Acme"},
                {"name": "B", "typeName": "Int32", "value": "many"},
            ],
            "root": _line("a"),
        }
    )
    assert [variable.type for variable in definition.variables] == ["any", "integer"]
    assert _found(problems) == [
        ("/variables/0/typeName", "unknown-value-type", Severity.WARNING),
        ("/variables/1/value", "bad-literal", Severity.WARNING),
    ]


# -- activities --------------------------------------------------------------------------------------------------------


def test_options_of_an_activity() -> None:
    properties = {
        "canStartWorkflow": True,
        "mergeMode": "Race",
        "commitStrategyName": "CommitAlways",
        "logPersistenceConfig": {
            "default": {
                "evaluationMode": "Strategy",
                "strategyType": "Elsa.Workflows.LogPersistence.Strategies.Include, E",
            },
            "inputs": {"text": {"evaluationMode": "Strategy", "strategyType": "Exclude"}},
        },
    }
    definition, problems = _read({"definitionId": "d", "root": _line("a", customProperties=properties)})
    assert problems == []
    assert definition.root.options == ActivityOptions(
        can_start=True,
        merge=MergeMode.RACE,
        commit="always",
        journal=JournalRule(default="include", inputs={"text": "exclude"}),
    )


@pytest.mark.parametrize(
    "legacy",
    [
        {"canStartWorkflow": True},
        {"applicationProperties": {"CanStartWorkflow": True}},
        {"customProperties": {"CanStartWorkflow": True}},
    ],
)
def test_a_trigger_is_found_at_its_old_places(legacy: dict[str, Any]) -> None:
    assert parse_elsa({"definitionId": "d", "root": _line("a", **legacy)}).root.options.can_start


def test_the_older_form_of_log_persistence() -> None:
    mode = {"default": "Inherit", "inputs": {"Text": 2}, "outputs": {}}
    node = parse_elsa({"definitionId": "d", "root": _line("a", customProperties={"logPersistenceMode": mode})}).root
    assert node.options.journal == JournalRule(inputs={"text": "exclude"})


def test_what_only_a_host_of_elsa_knows_is_warned_of() -> None:
    properties = {
        "resilienceStrategy": {"mode": "Identifier", "strategyId": "http"},
        "logPersistenceConfig": {"default": {"evaluationMode": "Expression", "expression": {}}},
    }
    _, problems = _read({"definitionId": "d", "root": _line("a", customProperties=properties)})
    assert _found(problems) == [
        ("/root/customProperties/logPersistenceConfig/default", "journal-expression", Severity.WARNING),
        ("/root/customProperties/resilienceStrategy", "resilience-strategy", Severity.WARNING),
    ]


def test_positions_and_other_metadata() -> None:
    metadata = {
        "designer": {"position": {"x": 1.5, "y": -2}, "size": {"width": 9, "height": 9}, "zoom": 2},
        "displayText": "T",
    }
    node = parse_elsa({"definitionId": "d", "root": _line("a", metadata=metadata)}).root
    assert {key: node.metadata[key] for key in ("position", "size", "displayText")} == {
        "position": {"x": 1.5, "y": -2},
        "size": {"width": 9, "height": 9},
        "displayText": "T",
    }


def test_activities_without_an_id_get_one_that_is_free() -> None:
    document = _chart([{"type": "Elsa.WriteLine"}, {"type": "Elsa.WriteLine"}, _line("WriteLine1")], [])
    definition = parse_elsa(document)
    assert [child.id for child in definition.root.children()] == ["WriteLine2", "WriteLine3", "WriteLine1"]


def test_an_output_goes_to_a_variable_by_id_or_to_an_output_of_the_workflow() -> None:
    def script(activity_id: str, target: str) -> dict[str, Any]:
        return {"id": activity_id, "type": "Elsa.RunJavaScript", "result": {"memoryReference": {"id": target}}}

    document = _chart([script("a", "v1"), script("b", "Reply"), script("c", "c:result"), script("d", "lost")], [])
    document.update({"variables": [{"id": "v1", "name": "Count"}], "outputs": [{"name": "Reply", "type": "Object"}]})
    definition, problems = _read(document)
    assert [dict(child.outputs) for child in definition.root.children()] == [
        {"result": "Count"},
        {"result": "Reply"},
        {},
        {},
    ]
    assert _found(problems) == [("/root/activities/3/result/memoryReference/id", "unknown-target", Severity.WARNING)]


def test_variables_of_one_name_are_told_apart_by_id() -> None:
    inner = {
        "id": "inner",
        "type": "Elsa.Sequence",
        "variables": [{"id": "v2", "name": "Count"}],
        "activities": [{"id": "s", "type": "Elsa.SetVariable", "variable": {"id": "v2", "name": "Count"}}],
    }
    document = {"definitionId": "d", "variables": [{"id": "v1", "name": "Count"}], "root": inner}
    (child,) = parse_elsa(document).root.children()
    assert child.inputs == {"variable": "v2"}


def test_a_workflow_used_as_an_activity() -> None:
    node = parse_elsa(
        {
            "definitionId": "d",
            "variables": [{"id": "v1", "name": "Total"}],
            "root": {
                "id": "use",
                "type": "Sum",
                "version": 3,
                "workflowDefinitionId": "sum",
                "workflowDefinitionVersionId": "sum-3",
                "latestAvailablePublishedVersion": 4,
                "firstNumber": {"typeName": "Int32", "expression": {"type": "Literal", "value": "4"}},
                "unset": None,
                "result": {"typeName": "Int32", "memoryReference": {"id": "v1"}},
            },
        }
    ).root
    assert (node.type, node.version) == ("Workflow", 1)
    assert node.inputs == {"firstNumber": 4}
    assert node.outputs == {"result": "Total"}
    assert node.extra == {"workflow": {"id": "sum", "version_id": "sum-3", "name": "Sum", "version": 3}}


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_an_unknown_type_is_kept_with_its_connections() -> None:
    unknown = {"id": "buy", "type": "Acme.Buy", "Odd": [1], "metadata": {"designer": {"position": {"x": 1, "y": 2}}}}
    document = _chart(
        [_line("a"), unknown], [{"source": "a", "target": "buy", "sourcePort": "Done", "targetPort": "In"}]
    )
    definition, problems = _read(document)
    assert _found(problems) == [("/root/activities/1/type", "unknown-type", Severity.ERROR)]
    assert definition.root.connections == (Connection(source="a", target="buy", outcome="Done"),)
    kept = definition.root.ports["activities"][1]
    assert (kept.type, kept.metadata["position"]) == ("Acme.Buy", {"x": 1, "y": 2})
    assert write_elsa(definition)[0]["root"]["activities"][1] == unknown


def _csharp(script: str) -> dict[str, Any]:
    literal = {"typeName": "String", "expression": {"type": "Literal", "value": script}}
    return {"definitionId": "d", "root": {"id": "a", "type": "Elsa.RunCSharp", "version": 1, "script": literal}}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('return "Bread";', 'return "Bread";'),
        ("Variable.Count", 'return getVariable("Count");'),
        ("return Output.LastResult;", "return getLastResult();"),
    ],
)
def test_a_trivial_csharp_script_runs_as_javascript_and_goes_back_as_it_was(script: str, expected: str) -> None:
    definition = parse_elsa(_csharp(script))
    assert (definition.root.type, dict(definition.root.inputs)) == (
        "RunScript",
        {"script": expected, "language": "javascript"},
    )
    assert write_elsa(definition)[0]["root"] == _csharp(script)["root"]


def test_a_translated_script_that_was_edited_goes_back_as_javascript() -> None:
    definition = parse_elsa(_csharp('return "Bread";'))
    root = msgspec.structs.replace(definition.root, inputs={**definition.root.inputs, "script": "return 1;"})
    written = write_elsa(msgspec.structs.replace(definition, root=root))[0]["root"]
    assert (written["type"], written["script"]["expression"]["value"]) == ("Elsa.RunJavaScript", "return 1;")


def test_any_other_csharp_script_is_kept_and_reported() -> None:
    definition, problems = _read(_csharp("var x = 1; return x;"))
    assert _found(problems) == [("/root/type", "unknown-type", Severity.ERROR)]
    assert write_elsa(definition)[0]["root"] == _csharp("var x = 1; return x;")["root"]


@pytest.mark.parametrize("type_name", ["Elsa.RunCSharp", "Elsa.SendEmail", "Elsa.BpmnProcess"])
def test_activities_of_elsa_that_we_do_not_have_are_reported(type_name: str) -> None:
    _, problems = _read({"definitionId": "d", "root": {"id": "a", "type": type_name}})
    assert [problem.code for problem in problems] == ["unknown-type"]


def test_an_activity_that_elsa_did_not_find_is_read_as_what_it_was() -> None:
    missing = {"type": "Elsa.NotFoundActivity", "id": "x", "originalActivityJson": json.dumps(_line("x"))}
    parted = [{"source": {"activity": "a", "port": "Done"}, "target": {"activity": "x", "port": "In"}}]
    document = _chart([_line("a"), missing], [], customProperties={"notFoundConnections": parted})
    definition = parse_elsa(document)
    assert [child.type for child in definition.root.children()] == ["WriteLine", "WriteLine"]
    assert [(each.source, each.target) for each in definition.root.connections] == [("a", "x")]
    written = write_elsa(definition)[0]["root"]
    assert written["customProperties"]["notFoundConnections"] == parted
    assert written["connections"] == []


def test_a_dangling_connection_is_kept_aside() -> None:
    dangling = {"source": {"activity": "a", "port": "Done"}, "target": {"activity": "gone", "port": "In"}}
    definition, problems = _read(_chart([_line("a")], [dangling]))
    assert definition.root.connections == ()
    assert _found(problems) == [("/root/connections/0", "dangling-connection", Severity.WARNING)]
    assert write_elsa(definition)[0]["root"]["connections"] == [dangling]


@pytest.mark.parametrize(
    "connection",
    [
        {"source": {"activity": "a", "port": "True"}, "target": {"activity": "b", "port": "In"}},
        {"source": "a", "sourcePort": "True", "target": "b", "targetPort": "In"},
        {"Source": {"Activity": "a", "Port": "True"}, "Target": {"Activity": "b"}},
    ],
)
def test_connections_of_every_form(connection: dict[str, Any]) -> None:
    (found,) = parse_elsa(_chart([_line("a"), _line("b")], [connection])).root.connections
    assert (found.source, found.outcome, found.target) == ("a", "True", "b")


def test_a_connection_without_a_port_follows_any_plain_completion() -> None:
    (found,) = parse_elsa(
        _chart([_line("a"), _line("b")], [{"source": {"activity": "a"}, "target": {"activity": "b"}}])
    ).root.connections
    assert found.outcome is None


def test_collections_may_be_wrapped() -> None:
    document = _chart([], [])
    document["root"]["activities"] = {"$values": [_line("a"), _line("b")]}
    document["root"]["connections"] = {"$values": [{"source": "a", "target": "b"}]}
    definition = parse_elsa(document)
    assert len(list(definition.root.children())) == 2
    assert len(definition.root.connections) == 1


def test_inputs_without_a_counterpart_are_kept_with_a_warning() -> None:
    strange = {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}
    definition, problems = _read({"definitionId": "d", "root": _line("a", colour=strange, nothing=None)})
    assert _found(problems) == [("/root/colour", "unknown-property", Severity.WARNING)]
    assert write_elsa(definition)[0]["root"]["colour"] == strange


def test_an_input_without_a_type_name_is_used_with_a_warning() -> None:
    definition, problems = _read(
        {"definitionId": "d", "root": _line("a", text={"expression": {"type": "Literal", "value": "x"}})}
    )
    assert definition.root.inputs == {"text": "x"}
    assert [problem.code for problem in problems] == ["no-type-name"]


@pytest.mark.parametrize(
    ("activity", "code"),
    [
        (
            {
                "type": "Elsa.FlowJoin",
                "mode": {"typeName": "X", "expression": {"type": "Literal", "value": "Sometimes"}},
            },
            "bad-choice",
        ),
        (
            {"type": "Elsa.FlowJoin", "mode": {"typeName": "X", "expression": {"type": "Literal", "value": 7}}},
            "bad-choice",
        ),
        (
            {"type": "Elsa.FlowJoin", "mode": {"typeName": "X", "expression": {"type": "JavaScript", "value": "f()"}}},
            "computed-choice",
        ),
    ],
)
def test_choices_that_are_none_or_computed(activity: dict[str, Any], code: str) -> None:
    _, problems = _read({"definitionId": "d", "root": {"id": "a", **activity}})
    assert [(problem.path, problem.code) for problem in problems] == [("/root/mode/expression", code)]


@pytest.mark.parametrize(
    ("ours", "pair"),
    [
        (Status.PENDING, ("Running", "Pending")),
        (Status.RUNNING, ("Running", "Executing")),
        (Status.SUSPENDED, ("Running", "Suspended")),
        (Status.FINISHED, ("Finished", "Finished")),
        (Status.FAULTED, ("Finished", "Faulted")),
        (Status.CANCELED, ("Finished", "Cancelled")),
    ],
)
def test_elsas_pair_of_statuses(ours: Status, pair: tuple[str, str]) -> None:
    assert elsa_status(ours) == pair
