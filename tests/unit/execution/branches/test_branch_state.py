"""Branch state: one packed record."""

from __future__ import annotations

from holdfast.execution.branches.branch_state import BranchState, pack_branch, unpack_branch
from holdfast.execution.state import ActivationState


def test_a_record_may_omit_its_last_fields() -> None:
    assert unpack_branch(pack_branch((1, [(7, "call", 0)]))) == BranchState(1, [ActivationState(7, "call", 0)])
