"""The wiring: all calls from lower components to higher ones are connected, and the facade gets each collaborator."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.model.cron import CRON
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind
from holdfast.persistence.memory import MemoryStore
from holdfast.ports import CronCalendar
from holdfast.runtime.cluster.wiring import Components
from holdfast.runtime.effects.running_effects import RunningEffects
from holdfast.runtime.parts import RuntimeParts
from tests.support.node import node_on


class Calendar:
    """A calendar that an application registered."""


@pytest.fixture
def components() -> Any:
    engine = Holdfast(entry_points=False)
    yield node_on(engine, MemoryStore()).components
    engine.close()


def test_every_declared_connection_is_set(components: Components) -> None:
    """A component declares a connection as an annotation without a value; the wiring sets it."""
    open_ends = [
        f"{type(part).__name__}.{name}"
        for part in vars(components).values()
        if type(part).__module__.startswith("holdfast.")
        for name in inspect.get_annotations(type(part))
        if not name.startswith("_") and not hasattr(part, name)
    ]

    assert open_ends == []


def test_connections_lead_to_the_components_of_this_node(components: Components) -> None:
    hooks = components.executor.hooks

    assert hooks.take_work == components.poller.take_own
    assert hooks.start_effects == components.running.start_committed
    assert hooks.send_steps == components.steps.send
    assert components.running.on_end == components.steps.effect_ended
    assert components.reaper.resend == components.steps.resend
    assert components.conflicts.submit == components.lanes.submit
    assert components.poller.take_one_in_quarantine == components.quarantine.take_one


def test_rows_that_need_queries_have_a_handler(components: Components) -> None:
    assert set(components.poller._handlers) == {
        WorkKind.STIMULUS,
        WorkKind.MAIL,
        WorkKind.UNREAD,
        WorkKind.ALTERATION,
    }


def test_instances_with_running_effects_count_as_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunningEffects, "of_instance", lambda effects, key: key.id == "i")
    engine = Holdfast(entry_points=False)
    in_hand = node_on(engine, MemoryStore()).components.in_hand

    assert [in_hand.has(InstanceKey("", name)) for name in ("i", "other")] == [True, False]
    engine.close()


def test_the_facade_gets_the_components_of_the_node() -> None:
    engine = Holdfast(entry_points=False)
    node = node_on(engine, MemoryStore())
    parts = node.parts

    assert parts.life is node
    names = [name for name in RuntimeParts.__struct_fields__ if name != "life"]
    assert [name for name in names if getattr(parts, name) is not getattr(node.components, name)] == []
    engine.close()


def test_a_registered_calendar_replaces_the_standard_one(components: Components) -> None:
    mine: Any = Calendar()
    engine = Holdfast(entry_points=False, services={CronCalendar: mine})

    assert components.calendar is CRON
    assert node_on(engine, MemoryStore()).components.calendar is mine
    engine.close()
