"""Inline functions are kept by name; those that share one are told apart."""

from __future__ import annotations

import pytest

from holdfast import Holdfast, If, Inline, Sequence, Workflow
from holdfast.errors import ActivityDeclarationError


async def test_two_lambdas_stay_two() -> None:
    first, second = Inline(lambda context: 1, result="a"), Inline(lambda context: 2, result="b")
    result = await Holdfast().runner.run(Workflow(Sequence(first, second), id="w", variables={"a": 0, "b": 0}))

    assert result.variables == {"a": 1, "b": 2}


def test_a_function_as_an_input_is_refused_with_the_remedy() -> None:
    with pytest.raises(ActivityDeclarationError, match=r"'condition' of If is a function.*expr"):
        Workflow(If(lambda: True))
