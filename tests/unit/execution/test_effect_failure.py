"""Exceptions of effects as data: names for retry rules, the source line, and the cause."""

from __future__ import annotations

import pytest

from holdfast.errors import ActivityTimeout
from holdfast.execution.effect_failure import failure


class CardDeclined(ValueError):
    """An error of an application."""


def raised(error: Exception) -> Exception:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


def test_type_bases_and_message_are_kept() -> None:
    error = raised(CardDeclined("no funds"))
    found = failure(error)

    assert found.type.rpartition(".")[2] == "CardDeclined"
    assert found.message == "no funds"
    assert [name.rpartition(".")[2] for name in found.bases][:1] == ["ValueError"]
    assert found.type not in found.bases
    assert found.error is error


def test_the_source_is_the_line_that_raised() -> None:
    source = failure(raised(CardDeclined("no funds"))).source

    assert source is not None
    assert "test_effect_failure.py:" in source


def test_only_the_timeout_of_an_activity_has_the_cause_timeout() -> None:
    assert failure(ActivityTimeout("pay", "0:01:00")).cause == "timeout"
    assert failure(TimeoutError("socket")).cause == "fault"
