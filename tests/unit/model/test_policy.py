"""Options of activities: wrong types are refused where they are declared, with the correct form."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import ActivityDeclarationError
from holdfast.model.policy import ActivityOptions, Retry


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"delay": 5}, r"delay=timedelta\(seconds=5\)"),
        ({"delay_max": 5}, r"delay_max=timedelta\(seconds=5\)"),
        ({"on": (ValueError,)}, r"on=\('ValueError',\)"),
        ({"never_on": (KeyError,)}, r"on=\('KeyError',\)"),
    ],
)
def test_a_retry_of_wrong_types_is_refused(given: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ActivityDeclarationError, match=remedy):
        Retry(**given)


def test_a_retry_without_an_attempt_is_refused_in_a_declaration() -> None:
    assert Retry(attempts=1).declared().attempts == 1
    with pytest.raises(ActivityDeclarationError, match="attempts=1"):
        Retry(attempts=0).declared()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"retry": 3}, r"retry=Retry\(attempts=3\)"),
        ({"timeout": 30}, r"timeout=timedelta\(seconds=30\)"),
        ({"on_lost": "explode"}, "on_lost"),
    ],
)
def test_options_of_wrong_types_are_refused(given: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ActivityDeclarationError, match=remedy):
        ActivityOptions(**given)


def test_valid_options_are_kept() -> None:
    options = ActivityOptions(retry=Retry(attempts=2), timeout=timedelta(seconds=1))

    assert (options.retry, options.timeout) == (Retry(attempts=2), timedelta(seconds=1))
