"""Definitions made by code survive their JSON document."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings, strategies as st

from holdfast.model.definition import (
    ActivationStrategy,
    ActivityNode,
    Connection,
    Definition,
    DefinitionOptions,
    Expression,
    IncidentStrategy,
    InputDeclaration,
    OutputDeclaration,
    PortEntry,
    Storage,
    Variable,
)
from holdfast.model.parse.nodes import OWN_KEYS, needs_literal
from holdfast.model.policy import ActivityOptions, JournalRule, MergeMode, OnLost, Retry
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition

storable = st.characters(codec="utf-8", exclude_characters="\0")
"""What a column keeps: ids and names are made of it."""
names = st.text(storable, min_size=1, max_size=6)
texts = st.none() | st.text(storable, max_size=5)
durations = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$python", "$literal", "$t", "type", "id", "a"]), inner, max_size=2)
    ),
    max_leaves=6,
)
literals = plain | st.sampled_from(
    [Decimal("1.50"), float("inf"), (1, 2), b"x", datetime(2031, 1, 1, tzinfo=UTC), {1: 2}, {1, 2}]
)
expressions = st.builds(
    Expression, st.sampled_from(["python", "javascript", "variable"]), st.text(max_size=5)
) | st.builds(Expression, st.just("literal"), literals.filter(lambda value: not needs_literal(value)))
inputs = st.dictionaries(names, literals | expressions, max_size=3)
variables = st.lists(
    st.builds(Variable, name=names, type=names, default=literals, storage=st.sampled_from(Storage), id=texts),
    max_size=2,
).map(tuple)
retries = st.builds(Retry, attempts=st.integers(1, 9), delay=durations, factor=st.floats(1, 9), on=st.tuples(names))
options = st.builds(
    ActivityOptions,
    retry=st.none() | retries,
    timeout=st.none() | durations,
    commit=texts,
    journal=st.none() | st.builds(JournalRule, default=texts, inputs=st.dictionaries(names, names, max_size=2)),
    on_lost=st.none() | st.sampled_from(OnLost),
    queue=texts,
    can_start=st.booleans(),
    merge=st.none() | st.sampled_from(MergeMode),
)
connections = st.lists(
    st.builds(Connection, source=names, target=names, outcome=texts, delay=st.none() | durations), max_size=3
).map(tuple)
ports = names.filter(lambda name: name not in OWN_KEYS)


def _node(children: st.SearchStrategy[ActivityNode]) -> st.SearchStrategy[ActivityNode]:
    def entry(data: dict[str, Any], activities: dict[str, ActivityNode]) -> PortEntry:
        # A field named `type` with a text would turn a list of entries into a list of activities.
        kept = {name: value for name, value in data.items() if name not in activities and name != "type"}
        return PortEntry(data=kept, activities=activities)

    entries = st.builds(entry, inputs, st.dictionaries(names, children, max_size=2))
    child_ports = st.dictionaries(
        ports,
        children | st.lists(children, max_size=2).map(tuple) | st.lists(entries, min_size=1, max_size=2).map(tuple),
        max_size=2,
    )

    def build(keyed: dict[str, Any], extra: dict[str, Any], **fields: Any) -> ActivityNode:
        return ActivityNode(
            ports=keyed, extra={key: value for key, value in extra.items() if key not in keyed}, **fields
        )

    return st.builds(
        build,
        child_ports,
        st.dictionaries(ports, st.none() | st.integers() | st.text(max_size=3) | st.just({"a": [1]}), max_size=2),
        id=names,
        type=names.filter(str.strip),
        version=st.integers(1, 3),
        name=texts,
        inputs=inputs,
        outputs=st.dictionaries(names, names, max_size=2),
        variables=variables,
        connections=connections,
        options=options,
        metadata=st.dictionaries(names, plain, max_size=2),
    )


leaves = st.builds(ActivityNode, id=names, type=names.filter(str.strip), inputs=inputs)
nodes = st.recursive(leaves, _node, max_leaves=4)
definitions = st.builds(
    Definition,
    id=names,
    root=nodes,
    name=texts,
    version=st.integers(1, 99),
    description=texts,
    inputs=st.lists(st.builds(InputDeclaration, name=names, default=literals, required=st.booleans()), max_size=2).map(
        tuple
    ),
    outputs=st.lists(st.builds(OutputDeclaration, name=names, description=texts), max_size=2).map(tuple),
    variables=variables,
    outcomes=st.lists(names, max_size=2).map(tuple),
    options=st.builds(
        DefinitionOptions,
        activation=st.sampled_from(ActivationStrategy),
        incident=st.sampled_from(IncidentStrategy),
        timeout=st.none() | durations,
        usable_as_activity=st.booleans(),
    ),
    labels=st.lists(names, max_size=2).map(tuple),
    metadata=st.dictionaries(names, plain, max_size=2),
    extra=st.dictionaries(st.sampled_from(["$schema", "x-own"]), plain, max_size=2),
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(definitions)
def test_a_definition_survives_its_document(definition: Definition) -> None:
    document = msgspec.json.decode(msgspec.json.encode(write_definition(definition)))
    read = parse_definition(document)
    assert read == definition
    assert write_definition(read) == document


def test_documents_share_nothing_with_the_definition() -> None:
    value = {"a": [1]}
    definition = Definition(id="d", root=ActivityNode(id="a", type="A", inputs={"x": value}))
    write_definition(definition)["root"]["inputs"]["x"]["a"].append(2)
    assert value == {"a": [1]}
