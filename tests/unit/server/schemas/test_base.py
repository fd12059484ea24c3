"""Bodies of requests: unknown names and texts that no column stores are refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from holdfast.server.schemas.base import Request


class Rename(Request):
    name: str
    labels: list[str] | None = None
    input: object = None


def test_a_valid_body_is_read() -> None:
    assert Rename.model_validate({"name": "order", "labels": ["a"]}).name == "order"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"name": "order", "lables": []}, "lables"),
        ({"name": "a\0b"}, "name"),
        ({"name": "order", "labels": ["fine", "\ud800"]}, "labels"),
    ],
)
def test_a_misspelled_name_and_an_unstorable_text_are_refused(body: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Rename.model_validate(body)


def test_values_of_a_workflow_may_hold_any_text() -> None:
    assert Rename.model_validate({"name": "order", "input": {"text": "a\0b"}}).input == {"text": "a\0b"}
