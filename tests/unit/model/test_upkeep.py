"""Exports of instances: rows of other instances and foreign records are refused."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import InvalidState
from holdfast.model.tasks import TASK
from holdfast.model.upkeep import InstanceExport, check_export
from holdfast.testing.store_rows import bookmark, effect, incident, instance, record, value

ROW = instance("i", tenant="acme")


def test_the_rows_of_one_instance_are_accepted() -> None:
    check_export(
        InstanceExport(
            instance=ROW,
            bookmarks=(bookmark("acme", "i"),),
            effects=(effect("acme", "i"),),
            incidents=(incident("acme", "i"),),
            values=(value("acme", "i", "v"),),
            records=(record("acme", "t", kind=TASK, instance_id="i"),),
        )
    )


@pytest.mark.parametrize(
    "rows",
    [
        {"bookmarks": (bookmark("acme", "j"),)},
        {"effects": (effect("other", "i"),)},
        {"values": (value("acme", "j", "v"),)},
        {"records": (record("acme", "t", kind=TASK, instance_id="j"),)},
        {"records": (record("acme", "u", kind="user", instance_id="i"),)},
    ],
)
def test_rows_of_others_are_refused(rows: dict[str, Any]) -> None:
    with pytest.raises(InvalidState, match="/export"):
        check_export(InstanceExport(instance=ROW, **rows))
