"""Accounts from the command line, on a store that no server has seen yet."""

from __future__ import annotations

import json

from tests.support.python_process import Holdfast

STORE = ("--store", "sqlite:///accounts.db")


def test_users(holdfast: Holdfast) -> None:
    assert (
        holdfast("users", "add", "kim", "--password", "-", "--role", "viewer", *STORE, stdin="a long one\n").returncode
        == 0
    )
    again = holdfast("users", "add", "Kim", "--password", "a long one", *STORE)
    unknown = holdfast("users", "add", "lee", "--password", "a long one", "--role", "boss", *STORE)
    holdfast("users", "roles", "kim", "operator", "designer", *STORE)
    listed = json.loads(holdfast("users", "list", "--json", *STORE).stdout)

    assert (again.returncode, "already" in again.stderr) == (2, True)
    assert (unknown.returncode, "Known roles: admin" in unknown.stderr) == (2, True)
    assert listed == [{"id": "kim", "name": "kim", "roles": ["designer", "operator"], "active": True}]
    assert holdfast("users", "remove", "kim", *STORE).returncode == 0
    assert json.loads(holdfast("users", "list", "--json", *STORE).stdout) == []


def test_keys(holdfast: Holdfast) -> None:
    made = json.loads(holdfast("keys", "add", "import", "--role", "operator", "--days", "3", "--json", *STORE).stdout)
    listed = holdfast("keys", "list", *STORE).stdout

    assert made["key"].startswith(f"hfk_{made['id']}_")
    assert "import" in listed
    assert made["key"] not in listed
    assert holdfast("keys", "remove", made["id"], *STORE).returncode == 0
    assert holdfast("keys", "remove", made["id"], *STORE).returncode == 2
