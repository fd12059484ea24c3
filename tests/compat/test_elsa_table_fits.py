"""The table of Elsa's activities names only what our activities have."""

from __future__ import annotations

import pytest

from holdfast import Holdfast
from holdfast.elsa.table import ROWS, Row

_LATER: set[str] = set()
"""Types that come with the runtime and the server; the table has them already so that documents carry over."""


@pytest.mark.parametrize("row", [row for row in ROWS if row.ours not in _LATER], ids=lambda row: row.elsa)
def test_a_row_fits_its_activity(row: Row) -> None:
    descriptor = Holdfast().descriptors[row.ours]
    assert {field.ours for field in row.inputs} | set(row.fixed) <= {each.name for each in descriptor.inputs}
    assert {ours for _, ours in row.outputs} <= {each.name for each in descriptor.outputs}
    ports = {ours: "one" for _, ours in row.ports} | {ours: "many" for _, ours in row.lists}
    ports |= {field.ours: "entries" for field in row.entries}
    assert ports.items() <= {each.name: str(each.kind) for each in descriptor.ports}.items()


def test_what_is_said_to_come_later_is_not_there_yet() -> None:
    assert not _LATER & Holdfast().descriptors.keys()
