"""Part reader: what it needs to rebuild parts of an instance."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.execution.part_reader import PartReader
from holdfast.execution.state import ActivationState
from tests.support.commit_pipeline import begun


def test_a_part_without_an_owner_is_refused() -> None:
    live = begun(Workflow(Sequence(Event("paid")), id="w"))
    reader = PartReader(live, [])
    reader.scopes.append(live.root.scope)

    with pytest.raises(ValueError, match="activation 7 has no owner"):
        reader.read_activations([ActivationState(7, live.root.node.key, 0)])
