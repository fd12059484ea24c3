"""`holdfast worker`: options that are refused before it starts."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Call


@pytest.mark.parametrize("given", ["", " , "])
def test_a_worker_without_a_queue_is_refused(call: Call, given: str) -> None:
    """An empty --queues served the queues of the settings."""
    result = call("worker", "--queues", given, "--store", "memory://")

    assert result.exit_code == 2
    assert "--queues names no queue" in result.output


def test_a_worker_whose_setting_names_no_queue_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_QUEUES", ",")

    result = call("worker", "--store", "memory://")

    assert result.exit_code == 2
    assert "The setting `queues` names no queue" in result.output


@pytest.mark.parametrize("option", ["--lanes", "--connections"])
def test_a_worker_without_capacity_is_refused(call: Call, option: str) -> None:
    result = call("worker", option, "0", "--store", "memory://")

    assert result.exit_code == 2
    assert "0 is not in the range x>=1" in result.output


def test_too_few_connections_are_refused(call: Call) -> None:
    result = call("worker", "--connections", "2", "--store", "sqlite:///few.db")

    assert result.exit_code == 2
    assert "store_connections=2 is too few for SQLite" in result.output
