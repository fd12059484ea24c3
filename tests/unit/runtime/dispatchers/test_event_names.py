"""What is sent has a name that somebody can wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Holdfast, activity
from holdfast.errors import DefinitionError, HoldfastError
from holdfast.runtime.dispatchers.event_names import named_event


@dataclass
class Approval:
    approved: bool


@activity
async def charge() -> None:
    """Nothing is paid."""


def test_an_object_is_named_by_its_class_and_a_name_brings_a_payload() -> None:
    assert named_event(Approval(True)) == ("Approval", Approval(True))
    assert named_event("paid", {"amount": 3}) == ("paid", {"amount": 3})
    assert named_event("paid") == ("paid", None)
    assert named_event(7) == ("int", 7)


@pytest.mark.parametrize(
    ("event", "payload", "told"),
    [
        (Approval, None, r"send\(Approval\(…\)\)"),
        ({"approved": True}, None, "A dict does not say which event it is"),
        (None, None, "A NoneType does not say"),
        (Approval(True), {"approved": False}, "Leave the payload out"),
    ],
    ids=["class", "dict", "nothing", "two payloads"],
)
def test_what_would_go_to_nobody_is_refused(event: Any, payload: Any, told: str) -> None:
    with pytest.raises(HoldfastError, match=told):
        named_event(event, payload)


@pytest.mark.parametrize(("given", "told"), [("shop.json", r"Path\('shop.json'\)"), (charge, r"charge.bind\(…\)")])
def test_what_is_nearly_a_workflow_says_how_to_make_it_one(given: Any, told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        Holdfast(entry_points=False).definition(given)
