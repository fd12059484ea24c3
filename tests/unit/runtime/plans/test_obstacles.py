"""Obstacles: one for each cause, and the names under which work is parked."""

from __future__ import annotations

from holdfast.errors import CodeMissing, DefinitionError, StateUnreadable, UnknownValueType
from holdfast.model.work import WorkRow
from holdfast.runtime.plans.obstacles import Obstacles, content_of, is_parked_by_cause
from holdfast.testing import VirtualClock


def row(**more: object) -> WorkRow:
    return WorkRow(id="w1", kind="timer", created=VirtualClock().now(), **more)  # type: ignore[arg-type] # any fields


def test_missing_code_is_one_obstacle_of_its_content() -> None:
    lacking: set[str] = set()
    obstacles, changes = Obstacles(lacking), list[int]()
    obstacles.on_change = lambda: changes.append(1)

    names = {
        obstacles.park_name(row(instance_id=name), CodeMissing("order", "'pack' is gone", content="c1"))
        for name in ("i1", "i2")
    }

    assert names == lacking == {"c1"}
    (found,) = obstacles.of("")
    assert (found.is_missing_code, found.content, found.instances) == (True, "c1", {"i1", "i2"})
    assert len(changes) == 1


def test_each_class_is_an_obstacle_of_its_own() -> None:
    obstacles = Obstacles(set())
    errors = [StateUnreadable("i1", "gone", variable="item", type_name=name, content="c1") for name in ("A", "B", "A")]

    names = [obstacles.park_name(row(content="c1"), error) for error in errors]

    assert names[0] == names[2] != names[1]
    assert all(is_parked_by_cause(name) and content_of(name) == "c1" for name in names)
    assert obstacles.parked_name("", "i1") == names[0]
    assert {item.reason for item in obstacles.of("")} == {
        f"the state of instances cannot be read (variable 'item', class '{name}': gone)" for name in ("A", "B")
    }


def test_parked_work_keeps_its_content() -> None:
    obstacles = Obstacles(set())
    name = obstacles.park_name(row(content="c1"), UnknownValueType("shop:Item"))

    assert obstacles.park_name(row(content=name), UnknownValueType("shop:Item")) == name


def test_work_that_waits_for_a_definition_is_tried_again() -> None:
    lacking: set[str] = set()
    obstacles = Obstacles(lacking)
    obstacles.met("", DefinitionError("There is no workflow 'order'."))
    obstacles.met("", CodeMissing("order", "'pack' is gone", content="c1"))

    obstacles.reopen()

    assert lacking == {"c1"}


def test_an_obstacle_that_is_gone_is_forgotten() -> None:
    lacking: set[str] = set()
    obstacles = Obstacles(lacking)
    name = obstacles.met("", StateUnreadable("i1", "gone", content="c1"))
    other = obstacles.met("acme", StateUnreadable("i1", "gone", content="c1"))
    assert name == other

    obstacles.passed("", name)
    assert obstacles.take_passed() == {("", name)}
    assert obstacles.take_passed() == set()
    obstacles.forget("", name)
    assert lacking == {name}  # Another tenant still has it.
    assert obstacles.parked_name("", "i1") is None
    obstacles.forget("acme", name)
    assert lacking == set()
