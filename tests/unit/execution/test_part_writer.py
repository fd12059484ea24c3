"""Part writer: scopes are written once, plain values as they are."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.execution.part_writer import PartWriter, is_plain
from tests.support.commit_pipeline import begun


@pytest.mark.parametrize("value", [None, True, 0, -(2**63), 2**63 - 1, "text", ""])
def test_plain_values(value: Any) -> None:
    assert is_plain(value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, "\ud800", "é", 1.5, [], {}, b""])
def test_other_values_need_encoding(value: Any) -> None:
    assert not is_plain(value)


def test_activations_share_a_scope() -> None:
    live = begun(Workflow(Sequence(Event("paid")), id="w", variables={"paid": 0}))
    writer = PartWriter(live, live.plan.types, None, False)

    written = writer.activations_of([live.root, *live.root.descendants()])

    assert [row[0] for row in written] == [1, *(item.id for item in live.root.descendants())]
    assert len(writer.scopes) == len({id(item.outer) for item in live.root.descendants()} | {id(live.root.scope)})
