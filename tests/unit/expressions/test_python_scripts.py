"""Scripts in Python: statements, variables, outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import Place, PlaceMaker


@pytest.fixture
def here(place: PlaceMaker) -> Place:
    return place({"total": 1, "items": [1, 2, 3], "record": {"a": 1}}, {"n": 7}, inner_value=10)


SCRIPTS: list[tuple[str, Any]] = [
    ("", None),
    ("1 + 1", 2),
    ("return 5", 5),
    ("x = 5", None),
    ("x = 5\nx * 2", 10),
    ("a, (b, c) = 1, (2, 3)\n[a, b, c]", [1, 2, 3]),
    ("a = b = 4\na + b", 8),
    ("x: int = 3\nx", 3),
    ("x = 0\nfor i in items:\n  x += i\nx", 6),
    ("x = 0\nfor k, v in record.items():\n  x += v\nx", 1),
    ("out = []\nfor i in items:\n  if i == 2: continue\n  out.append(i * 10)\nout", [10, 30]),
    ("i = 0\nwhile True:\n  i += 1\n  if i > 4: break\ni", 5),
    ("for i in items:\n  pass\nelse:\n  return 'all'\n", "all"),
    ("if n > 5:\n  return 'big'\nelif n > 3:\n  return 'middle'\nelse:\n  return 'small'", "big"),
    ("copy = list(items)\ncopy[0] = 9\ncopy.insert(0, 8)\ndel copy[-1]\ncopy", [8, 9, 2]),
    ("d = {**record}\nd['b'] = 2\nd.c = 3\nd['b'] += 5\nd.update({'d': 4})\nd", {"a": 1, "b": 7, "c": 3, "d": 4}),
    ("s = {1}\ns.add(2)\ns.discard(1)\ns", {2}),
    ("x = [i for i in items]\nx.reverse()\nx", [3, 2, 1]),
    ("x = 2\nx **= 3\nx -= 1\nx //= 2\nx", 3),
    ("rows = 'a,b'.split(',')\nrows.append('c')\nrows", ["a", "b", "c"]),
    ("for i in items:\n  x = i\nx", 3),
    ("x = items + [4]\nx.append(5)\nx += [6]\nx.append(7)\nx", [1, 2, 3, 4, 5, 6, 7]),
    ("x = items[1:]\nx.append(5)\nx", [2, 3, 5]),
]


@pytest.mark.parametrize(("source", "value"), SCRIPTS, ids=[source for source, _ in SCRIPTS])
def test_the_result_is_what_is_returned_or_the_last_line(here: Place, source: str, value: Any) -> None:
    assert here.run("python", source).value == value
    assert here.value("items") == [1, 2, 3]


def test_assigning_a_variable_writes_the_scope(here: Place) -> None:
    here.run("python", "total = total + n\ninner_value += 1\nvariables.record = {'b': total}\nmine = 5")
    assert (here.value("total"), here.value("inner_value"), here.value("record")) == (8, 11, {"b": 8})


def test_elsas_ways_to_write_variables(here: Place) -> None:
    here.run(
        "python", "variables.set('total', 2)\nexecution_context.SetVariable('inner_value', variables.get('total'))"
    )
    assert (here.value("total"), here.value("inner_value")) == (2, 2)


def test_loops_and_unpacking_may_assign_variables(here: Place) -> None:
    here.run("python", "for total in items: pass\ninner_value, x = 5, 6")
    assert (here.value("total"), here.value("inner_value")) == (3, 5)


def test_a_comprehension_never_assigns_a_variable(here: Place) -> None:
    here.run("python", "x = [total for total in items]")
    assert here.value("total") == 1


@pytest.mark.parametrize("last", ["1 / 0", "while True: pass", "x = []\nx.append(x)\ntotal = x"])
def test_a_script_that_fails_leaves_every_variable_as_it_was(here: Place, last: str) -> None:
    with pytest.raises((ExpressionFailed, ExpressionLimit)):
        here.run("python", f"total = 5\nvariables.record = 6\n{last}")
    assert (here.value("total"), here.value("record")) == (1, {"a": 1})


@pytest.mark.parametrize(
    ("source", "outcomes"),
    [
        ("1", None),
        ("set_outcome('Yes')", ("Yes",)),
        ("set_outcomes(['A', 'B'])", ("A", "B")),
        ("set_outcome('A')\nset_outcome('B')", ("B",)),
        ("outcome.Set('A', 'B')", ("A", "B")),
        ("if total: set_outcome('Some')\nelse: set_outcome('None')", ("Some",)),
    ],
)
def test_outcomes(here: Place, source: str, outcomes: tuple[str, ...] | None) -> None:
    assert here.run("python", source).outcomes == outcomes


def test_outcomes_do_not_stay_for_the_next_run(here: Place) -> None:
    from holdfast.expressions.python import PythonEvaluator

    script = PythonEvaluator().compile_script("if total == 1: set_outcome('First')\ntotal = 2", here.names)
    assert script.run(here.scope).outcomes == ("First",)
    assert script.run(here.scope).outcomes is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("n = 5", "'n' is an input"),
        ("def f(): pass", "'FunctionDef' is not allowed"),
        ("x = 1\ny = z", "line 2 of"),
        ("variables.nope = 1", "no variable 'nope' to assign to"),
    ],
)
def test_refusals_say_where_and_why(here: Place, source: str, words: str) -> None:
    with pytest.raises(ExpressionRefused, match=words):
        here.run("python", source)


def test_what_is_read_too_early_is_named(here: Place) -> None:
    with pytest.raises(ExpressionFailed, match="'late' is read before it is assigned"):
        here.run("python", "if total > 5: late = 1\nlate")


def test_changing_a_value_of_the_workflow_tells_the_remedy(here: Place) -> None:
    with pytest.raises(ExpressionFailed, match=r"belongs to the workflow.*items = list\(items\)"):
        here.run("python", "items.append(4)")


def test_expressions_set_no_outcomes(here: Place) -> None:
    with pytest.raises(ExpressionRefused, match="only scripts can set"):
        here.evaluate("python", "set_outcome('A')")


def test_a_script_that_is_no_python(here: Place) -> None:
    with pytest.raises(ExpressionSyntax, match=r"line 2"):
        here.run("python", "x = 1\nfor for")
