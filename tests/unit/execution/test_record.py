"""Arguments of callbacks as data."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.execution.record import argument_data, argument_of
from holdfast.ports import ChildResult


@pytest.mark.parametrize("argument", [None, {"child": 1}, ChildResult(child_id="a", outcomes=("Done",), tag=[1])])
def test_an_argument_survives_the_state(argument: Any) -> None:
    assert argument_of(argument_data(argument)) == argument
