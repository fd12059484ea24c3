from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from holdfast.model.definition import ActivityNode, Connection
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.graph import FlowGraph, flow_graph, start_of
from holdfast.model.policy import ActivityOptions


def graph(*edges: str, start: str = "a", more: str = "") -> FlowGraph:
    connections = [Connection(source=edge[0], target=edge[1], outcome=edge[2:] or None) for edge in edges]
    ids = dict.fromkeys([start, *"".join(edge[:2] for edge in edges), *more])
    return FlowGraph(list(ids), connections, start)


def pairs(flow: FlowGraph, indexes: frozenset[int]) -> set[str]:
    return {flow.connections[index].source + flow.connections[index].target for index in indexes}


def chart(*children: ActivityNode, edges: str = "", start: str | None = None) -> ActivityNode:
    connections = tuple(Connection(source=edge[0], target=edge[1]) for edge in edges.split())
    return ActivityNode(
        id="f",
        type="Flowchart",
        ports={"activities": children},
        connections=connections,
        extra={"start": start} if start else {},
    )


def plain(name: str, type_name: str = "WriteLine", *, can_start: bool = False) -> ActivityNode:
    return ActivityNode(id=name, type=type_name, options=ActivityOptions(can_start=can_start))


def test_a_diamond_leads_forward() -> None:
    flow = graph("ab", "ac", "bd", "cd")
    assert pairs(flow, flow.forward) == {"ab", "ac", "bd", "cd"}
    assert flow.backward == frozenset()
    assert flow.ancestors("d") == {"a", "b", "c"}
    assert flow.forward_inbound("d") == (2, 3)
    assert flow.outbound("a") == (0, 1)
    assert flow.inbound("a") == ()


def test_a_loop_leads_backward_and_is_valid() -> None:
    flow = graph("ab", "bc", "cb", "cd", "cc")
    assert pairs(flow, flow.backward) == {"cb", "cc"}
    assert all(flow.is_valid_backward(index) for index in flow.backward)
    assert flow.forward_outbound("c") == (3,)


def test_a_loop_into_one_branch_from_another_is_invalid() -> None:
    flow = graph("ab", "ac", "bd", "cd", "db")
    (back,) = flow.backward
    assert pairs(flow, flow.backward) == {"db"}
    assert not flow.is_valid_backward(back)


def test_every_connection_of_an_accepted_pair_leads_forward() -> None:
    flow = graph("abTrue", "abFalse", "ba")
    assert flow.forward == {0, 1}
    assert flow.backward == {2}


def test_an_edge_to_an_earlier_activity_may_still_lead_forward() -> None:
    """Breadth first meets c before b's successor d, which leads to c."""
    flow = graph("ab", "ac", "bd", "dc", "ce", "ed")
    assert pairs(flow, flow.backward) == {"ed"}
    assert flow.ancestors("e") == {"a", "b", "c", "d"}
    (back,) = flow.backward
    assert not flow.is_valid_backward(back)


def test_what_no_way_leads_to_dangles() -> None:
    flow = graph("ab", "cd", "cb", more="e")
    assert flow.dangling == ("c", "d", "e")
    assert flow.reachable == ("a", "b")
    assert flow.ancestors("b") == {"a"}
    assert flow.backward == frozenset()


def test_another_start_turns_connections_around() -> None:
    flow = graph("ab", "ba", start="b")
    assert pairs(flow, flow.backward) == {"ab"}


def test_unknown_activities_and_an_empty_chart() -> None:
    flow = FlowGraph(["a"], [Connection(source="a", target="x"), Connection(source="x", target="a")], "a")
    assert flow.outbound("a") == flow.inbound("a") == ()
    empty = FlowGraph([], [], None)
    assert empty.reachable == empty.dangling == ()
    assert empty.forward == frozenset()


def test_the_start_follows_the_order_of_the_rules() -> None:
    children = (plain("a"), plain("b"), plain("c", can_start=True), plain("d", "Start"), plain("e"))
    everything = chart(*children, edges="ab", start="e")
    assert start_of(everything, "b") == "b"
    assert start_of(everything) == "e"
    assert start_of(chart(*children, start="nobody")) == "d"
    assert start_of(chart(*children[:3])) == "c"
    assert start_of(chart(*children[:2], edges="ba")) == "b"
    assert start_of(chart(*children[:2], edges="ab ba")) == "a"
    assert start_of(chart()) is None


def test_descriptors_say_what_a_start_is() -> None:
    descriptors = {
        "Begin": ActivityDescriptor(type="Begin", start=True),
        "Start": ActivityDescriptor(type="Start", start=False),
    }
    children = (plain("a", "Start"), plain("b", "Begin"))
    assert start_of(chart(*children), descriptors=descriptors) == "b"
    assert flow_graph(chart(*children, edges="ba"), descriptors=descriptors).ancestors("a") == {"b"}


edges = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=16)


def _slow_forward(all_edges: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """The rule word by word."""
    accepted: set[tuple[str, str]] = set()
    waiting, seen = ["a"], {"a"}

    def leads(one: str, other: str) -> bool:
        found, stack = {one}, [one]
        while stack:
            here = stack.pop()
            for source, target in accepted:
                if source == here and target not in found:
                    found.add(target)
                    stack.append(target)
        return other in found

    while waiting:
        here = waiting.pop(0)
        for source, target in all_edges:
            if source != here:
                continue
            if not leads(target, source):
                accepted.add((source, target))
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return accepted


@given(edges)
def test_the_fast_way_agrees_with_the_rule(all_edges: list[tuple[str, str]]) -> None:
    flow = FlowGraph(list("abcdef"), [Connection(source=s, target=t) for s, t in all_edges], "a")
    wanted = _slow_forward(all_edges)
    assert pairs(flow, flow.forward) == {s + t for s, t in wanted}
    for index in flow.backward:
        source, target = all_edges[index]
        assert flow.is_valid_backward(index) == (not _reaches_without(wanted, source, target))


def _reaches_without(accepted: set[tuple[str, str]], goal: str, avoided: str) -> bool:
    if avoided in {"a", goal}:
        return False
    found, stack = {"a"}, ["a"]
    while stack:
        here = stack.pop()
        for source, target in accepted:
            if source == here and target not in found and target != avoided:
                found.add(target)
                stack.append(target)
    return goal in found


@pytest.mark.parametrize("size", [2000])
def test_a_large_chart_is_analysed(size: int) -> None:
    ids = [f"n{number}" for number in range(size)]
    connections = [Connection(source=one, target=other) for one, other in pairwise(ids)]
    connections += [Connection(source=ids[n], target=ids[n // 2]) for n in range(10, size)]
    flow = FlowGraph(ids, connections, ids[0])
    assert len(flow.forward) == size - 1
    assert all(flow.is_valid_backward(index) for index in flow.backward)
    assert len(flow.ancestors(ids[-1])) == size - 1
