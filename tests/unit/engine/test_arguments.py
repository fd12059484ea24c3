"""What an application is made of, given in the wrong shape: told with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, activity, workflow
from holdfast.errors import SettingsError
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
