"""Looking at a database that is not there: said so, with the remedy, and none is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]

LOOKING = [
    ("instances", "list"),
    ("instances", "show", "X1"),
    ("definitions", "list"),
    ("definitions", "start", "hello"),
    ("events", "send", "paid"),
    ("tasks", "list"),
    ("schedules", "list"),
    ("dead-letters", "list"),
    ("doctor",),
    ("doctor", "instance", "X1"),
    ("doctor", "stimulus", "Event"),
    ("users", "list"),
    ("users", "remove", "kim"),
    ("keys", "list"),
    ("resume", "X1"),
    ("migrate", "--check"),
]


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_a_mistyped_path_is_refused_and_no_file_is_made(call: Call, folder: Path, command: tuple[str, ...]) -> None:
    (folder / "holdfast.db").touch()

    result = call(*command, "--store", "sqlite:///holdfats.db")

    assert result.exit_code == 2, result.output
    assert "There is no database 'holdfats.db'" in result.output
    assert "Did you mean sqlite:///holdfast.db?" in result.output
    assert "holdfast migrate --store sqlite:///holdfats.db" in result.output
    assert [item.name for item in folder.iterdir()] == ["holdfast.db"]


def test_the_store_of_the_settings_is_looked_for_too(call: Call, folder: Path) -> None:
    result = call("instances", "list")

    assert result.exit_code == 2
    assert "There is no database 'holdfast.db'" in result.output
    assert "HOLDFAST_STORE" in result.output
    assert list(folder.iterdir()) == []


def test_what_is_there_is_looked_at(call: Call) -> None:
    assert call("migrate", "--store", "sqlite:///new.db").exit_code == 0

    assert call("instances", "list", "--store", "sqlite:///new.db").exit_code == 0
    assert call("migrate", "--check", "--store", "sqlite:///new.db").exit_code == 0


def test_the_first_user_may_come_before_the_first_server(call: Call, folder: Path) -> None:
    result = call("users", "add", "kim", "--password", "a long enough one", "--store", "sqlite:///new.db")

    assert result.exit_code == 0, result.output
    assert (folder / "new.db").exists()
