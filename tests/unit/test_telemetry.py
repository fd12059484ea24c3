"""Events reach those who listen, and a broken listener reaches nobody."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from holdfast import telemetry


def test_nobody_listens_by_default() -> None:
    assert not telemetry.listeners


def test_a_listener_hears_what_happens_inside_its_block() -> None:
    heard: list[tuple[str, Mapping[str, Any]]] = []

    with telemetry.on(lambda name, fields: heard.append((name, fields))):
        telemetry.emit("instance.canceled", tenant="", instance_id="i", definition_id="d")
    telemetry.emit("instance.canceled", tenant="", instance_id="j", definition_id="d")

    assert heard == [("instance.canceled", {"tenant": "", "instance_id": "i", "definition_id": "d"})]
    assert not telemetry.listeners


def test_a_listener_hears_only_what_it_named() -> None:
    heard: list[str] = []

    with telemetry.on(lambda name, _: heard.append(name), "instance.finished"):
        telemetry.emit("instance.canceled", tenant="", instance_id="i", definition_id="d")
        telemetry.emit("instance.finished", tenant="", instance_id="i", definition_id="d", activities=3)

    assert heard == ["instance.finished"]


def test_a_listener_of_one_tenant_hears_no_other_tenant() -> None:
    heard: list[tuple[str, str]] = []

    with (
        telemetry.on(lambda _, fields: heard.append(("acme", fields["tenant"])), tenant="acme"),
        telemetry.on(lambda _, fields: heard.append(("all", fields["tenant"]))),
    ):
        telemetry.emit("instance.canceled", tenant="acme", instance_id="i", definition_id="d")
        telemetry.emit("instance.canceled", tenant="other", instance_id="j", definition_id="d")

    assert heard == [("acme", "acme"), ("all", "acme"), ("all", "other")]


def test_who_builds_an_event_can_ask_whether_anybody_wants_it() -> None:
    with telemetry.on(print, "instance.finished"), telemetry.on(print, "instance.finished", "work.taken"):
        assert telemetry.wants("work.taken")
        assert not telemetry.wants("instance.canceled")
    with telemetry.on(print, "instance.finished"):
        assert telemetry.wants("instance.finished")
        assert not telemetry.wants("work.taken")
    assert not telemetry.wants("instance.finished")


def test_a_name_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"No such event: instance\.ended"), telemetry.on(print, "instance.ended"):
        pytest.fail("the block must not run")


def test_a_listener_that_raises_is_logged_and_the_next_one_still_hears(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def broken(name: str, fields: Mapping[str, Any]) -> None:
        raise RuntimeError("no dashboard today")

    with telemetry.on(broken), telemetry.on(lambda name, _: heard.append(name)):
        telemetry.emit("instance.canceled", tenant="", instance_id="i", definition_id="d")

    assert heard == ["instance.canceled"]
    assert "no dashboard today" in caplog.text


def test_events_can_be_written_to_a_log_at_their_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="holdfast")

    with telemetry.on(telemetry.log_event):
        telemetry.emit("instance.faulted", tenant="", instance_id="i", definition_id="d", incidents=1)
        telemetry.emit("instance.canceled", tenant="acme", instance_id="j", definition_id="d")
        telemetry.emit("segment.committed", tenant="", instance_id="i", definition_id="d", activities=3)

    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "instance.faulted instance_id=i definition_id=d incidents=1"),
        ("INFO", "instance.canceled tenant=acme instance_id=j definition_id=d"),
    ]
