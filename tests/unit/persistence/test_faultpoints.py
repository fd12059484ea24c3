"""Fault points: without a hook nothing happens, with a hook each point is reported."""

from __future__ import annotations

import pytest

from holdfast.errors import SettingsError
from holdfast.persistence import faultpoints
from holdfast.testing import faults


def test_without_a_hook_a_point_does_nothing() -> None:
    assert faultpoints.hook is None
    faultpoints.reached("commit.begin")


def test_a_fault_acts_at_its_point_only_and_is_removed_afterwards() -> None:
    with faults.at("commit.written", faults.raising(ConnectionResetError), after=1, times=1) as seen:
        faultpoints.reached("commit.begin")
        faultpoints.reached("commit.written")
        with pytest.raises(ConnectionResetError):
            faultpoints.reached("commit.written")
        faultpoints.reached("commit.written")

    assert seen == ["commit.begin", *["commit.written"] * 3]
    assert faultpoints.hook is None


def test_an_unknown_point_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"commit\.begin"), faults.at("commit.end", faults.die):
        pass
