"""A text is compiled once for all places where its names have the same positions."""

from __future__ import annotations

import pytest

from holdfast.errors import ExpressionError
from holdfast.expressions.compiled_cache import CompiledCache
from holdfast.expressions.python.evaluator import PythonEvaluator
from holdfast.model.scope import Names, Shape
from holdfast.ports import CompiledExpression


def names(*variables: str, around: tuple[Shape, ...] = ()) -> Names:
    shape = Shape("root")
    for name in variables:
        shape.add(shape.names, name, "any", None)
    return Names((shape, *around))


def test_a_text_is_compiled_once_for_equal_places() -> None:
    python = PythonEvaluator()

    first = python.compile("a + 1", names("a"))

    assert python.compile("a + 1", names("a")) is first
    assert python.compile("a + 1", names("a", "b")) is first
    assert python.compile("a + 2", names("a")) is not first


def test_another_position_or_depth_is_compiled_again() -> None:
    python = PythonEvaluator()
    first = python.compile("a + 1", names("a"))

    moved = python.compile("a + 1", names("b", "a"))
    deeper = python.compile("a + 1", names("a", around=(Shape("outer"),)))

    assert len({id(item.evaluate) for item in (first, moved, deeper)}) == 3
    assert python.compile("a + 1", names("b", "a")) is moved
    assert python.compile("a + 1", names("a")) is first


def test_a_name_that_is_new_in_another_place_is_not_overlooked() -> None:
    """`instance` has the facts of the instance, unless a variable has that name."""
    python = PythonEvaluator()

    facts = python.compile("instance.id", names("a"))
    variable = python.compile("instance.id", names("instance"))

    assert [name for name, _ in facts.reads] == ["instance.id"]
    assert [name for name, _ in variable.reads] == ["instance"]


def test_a_reused_expression_marks_the_shape_that_it_reads() -> None:
    python = PythonEvaluator()
    python.compile("a + 1", names("a"))
    again = names("a")

    python.compile("a + 1", again)

    assert again.shapes[0].exposed


def test_errors_are_not_kept_and_the_number_of_entries_is_bounded() -> None:
    cache, compiled = CompiledCache(entries=2), []

    def compile(at: Names) -> CompiledExpression:
        compiled.append(at)
        return CompiledExpression(lambda scope: None)

    def refused(at: Names) -> CompiledExpression:
        raise ExpressionError("no", language="python", source="x")

    with pytest.raises(ExpressionError):
        cache.compiled("x", names(), refused)
    for key in ("x", "y", "x", "z", "x", "y"):
        cache.compiled(key, names(), compile)

    assert len(compiled) == 4  # x, y, z, and y again: it was used least recently.
