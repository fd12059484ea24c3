"""Code as an input is refused: inputs are values or expressions."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import If
from holdfast.errors import ActivityDeclarationError


def test_a_function_as_an_input_is_refused_with_the_remedy() -> None:
    with pytest.raises(ActivityDeclarationError, match=r"'condition' of If is a function.*expr"):
        Workflow(If(lambda: True))
