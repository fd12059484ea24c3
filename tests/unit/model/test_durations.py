from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from holdfast.model.durations import format_duration, parse_duration


@given(st.timedeltas())
def test_a_duration_survives_its_text(length: timedelta) -> None:
    assert parse_duration(format_duration(length)) == length


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("PT30S", timedelta(seconds=30)),
        ("P1DT2H3M4.5S", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("P2W", timedelta(weeks=2)),
        ("-PT1M", timedelta(minutes=-1)),
        ("00:00:30", timedelta(seconds=30)),
        ("1.02:03:04", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("-00:00:01.5", timedelta(seconds=-1.5)),
        ("00:00:00.1234567", timedelta(microseconds=123456)),
        ("02:30", timedelta(hours=2, minutes=30)),
        (" PT0S ", timedelta()),
    ],
)
def test_forms_of_durations(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "5", "1 day", "P1Y", "P1M", "::", "99999999.00:00:00x", "P" + "9" * 9 + "W"]
)
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)


@given(st.text(alphabet="PT0123456789WDHMS:.-+ ", max_size=20))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        assert isinstance(parse_duration(text), timedelta)
    except ValueError:
        pass
