"""What an application is made of, given in the wrong shape: told with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Workflow, activity, workflow
from holdfast.activities import WriteLine
from holdfast.errors import InvalidDefinition, SettingsError
from holdfast.persistence.memory import MemoryStore


@activity
async def charge(amount: int) -> int:
    return amount


@workflow
async def fulfil(amount: int) -> int:
    return await charge(amount)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"store": 5}, r"store=5 .*sqlite:///holdfast\.db"),
        ({"store": Path("kept.db")}, r"store=.*sqlite:///kept\.db"),
        ({"store": MemoryStore}, r"store=.*is a class.*MemoryStore\(\)"),
        ({"workflows": fulfil}, r"workflows=\[fulfil\]"),
        ({"workflows": charge}, r"workflows=.*list"),
        ({"workflows": 5}, r"workflows=.*list"),
        ({"workflows": None}, r"workflows=.*list"),
        ({"workflows": "flows"}, r"workflows=\[Path\('flows'\)\]"),
        ({"workflows": Path("flows")}, r"workflows=\[Path\('flows'\)\]"),
        ({"workflows": {"id": "order"}}, r"workflows=.*list"),
        ({"definitions": fulfil}, r"definitions=\[fulfil\]"),
        ({"activities": charge}, r"activities=\[charge\]"),
        ({"activities": "charge"}, r"activities=.*list"),
    ],
)
def test_what_is_given_in_the_wrong_shape(given: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Holdfast(entry_points=False, **given)


def test_any_iterable_will_do() -> None:
    app = Holdfast(
        entry_points=False,
        store=MemoryStore(),
        workflows=(item for item in [fulfil]),
        activities={"charge": charge}.values(),
    )
    assert app.workflows == (fulfil,)


@pytest.mark.parametrize("argument", ["workflows", "definitions"])
def test_an_unknown_commit_strategy_of_a_workflow_is_refused_at_once(argument: str) -> None:
    """It was refused only when the application was opened."""
    wrong: dict[str, Any] = {argument: [Workflow(WriteLine("x"), id="w", commit="sometimes")]}

    with pytest.raises(InvalidDefinition, match=r"/options/commit: There is no commit strategy 'sometimes'\. Known: "):
        Holdfast(entry_points=False, **wrong)
    Holdfast(entry_points=False, workflows=[Workflow(WriteLine("x"), id="w", commit="always")]).close()
