"""Display names of activity types."""

from __future__ import annotations

import pytest

from holdfast.server.views.descriptors import spaced


@pytest.mark.parametrize(
    ("name", "shown"),
    [("WriteLine", "Write line"), ("write_line", "Write line"), ("If", "If"), ("SetHTTP", "Set h t t p")],
)
def test_names_are_written_as_people_read_them(name: str, shown: str) -> None:
    assert spaced(name) == shown
