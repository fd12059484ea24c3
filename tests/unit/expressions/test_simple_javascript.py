"""Simple expressions have the value that the engine gives, or are left to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import given, strategies

from holdfast.errors import ExpressionError
from holdfast.expressions.isolation.inline import Inline
from holdfast.expressions.isolation.requests import Answer, Request
from holdfast.expressions.javascript import JavaScriptEvaluator, evaluator as module
from holdfast.expressions.javascript.simple_syntax import NotSimple, parse
from tests.unit.expressions.conftest import Place

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import PlaceMaker

VALUES: dict[str, Any] = {
    "a": 3,
    "b": -2,
    "zero": 0,
    "real": 1.5,
    "whole": 4.0,
    "big": 2**53 - 1,
    "huge": 2**70,
    "far": 1e300,
    "text": "abc",
    "digits": "12",
    "empty": "",
    "odd": "ä😀",
    "yes": True,
    "no": False,
    "nothing": None,
    "items": [1, "x", [2.0], None],
    "order": {"id": "4711", "length": 2, "line": {"price": 2.5, "constructor": 1}, 1: "one"},
    "amount": Decimal("12.50"),
    "cents": Decimal("0.1000000000000000055"),
    "when": datetime(2026, 1, 2, tzinfo=UTC),
    "pause": timedelta(hours=1),
    "key": UUID(int=7),
    "raw": b"abc",
    "endless": float("inf"),
    "unknown": float("nan"),
}
INPUTS = {"total": 10, "a": "of the input"}
HERE = Place(VALUES, INPUTS)
EVALUATOR = JavaScriptEvaluator(isolation=Inline())

_names = strategies.sampled_from(sorted(VALUES))
_leaves = strategies.one_of(
    _names.map(lambda name: f"variables.{name}"),
    _names.map(lambda name: f"get{name[0].upper()}{name[1:]}()"),
    _names.map(lambda name: f"getVariable('{name}')"),
    strategies.sampled_from(["getInput('total')", "getTotal()", "getInput('a')"]),
    strategies.sampled_from(["0", "1", "2.5", "9007199254740991", "'abc'", '"12"', "''", "true", "false", "null", "0.1"]),
    strategies.sampled_from(
        ["variables.items[0]", "variables.items[9]", "variables.items[2][0]", "variables.items.length", "variables.text.length",
         "variables.odd.length", "variables.order.line.price", "variables.order.id", "variables.order.none",
         "variables.order['line'].constructor", "variables.order.constructor", "variables.order.length"]
    ),
)  # fmt: skip
_signs = strategies.sampled_from(["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "===", "!==", "==", "!=", "&&", "||"])
_expressions = strategies.recursive(
    _leaves,
    lambda inner: strategies.one_of(
        strategies.tuples(inner, _signs, inner).map(" ".join),
        strategies.tuples(inner, _signs, inner).map(lambda parts: f"({' '.join(parts)})"),
        strategies.tuples(inner, inner, inner).map(lambda parts: "({} ? {} : {})".format(*parts)),
        inner.map(lambda text: f"!{text}"),
        inner.map(lambda text: f"-({text})"),
    ),
    max_leaves=6,
)


def outcome(source: str) -> Any:
    try:
        found = EVALUATOR.compile(source, HERE.names).evaluate(HERE.scope)
    except ExpressionError as error:
        return type(error).__name__
    return (type(found), repr(found))


def by_engine(source: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "simple_expression", lambda source, reader: None)
        return outcome(source)


@given(_expressions)
def test_a_simple_expression_has_the_value_that_the_engine_gives(source: str) -> None:
    assert outcome(source) == by_engine(source)


@pytest.mark.parametrize(
    "source",
    [
        "getA() + getB() * 2 - 1",
        "variables.text + variables.a",
        "variables.text + variables.real",
        "1 / 3 + 1 / 3",
        "-7 % 3",
        "7 % -3",
        "0 * -1",
        "1 / (0 * -1)",
        "9007199254740991 + 1",
        "variables.amount * 2",
        "variables.far * variables.far",
        "variables.far",
        "variables.whole",
        "variables.items",
        "variables.order[1]",
        "variables.order['1']",
        "'😀' < '\ufb01'",
        "getA(); ",
        "a ? b",
        "1 +",
        "1 2",
        "(1",
        "1--1",
        "1 - -1",
        "1.5.length",
        "'abc'.length",
        "'abc'[1]",
        "'abc'['length']",
        "variables",
        "variables.none",
        "getNone()",
        "getVariable('none')",
        "true ? 1 : false ? 2 : 3",
        "1 < 2 < 3",
        "!!variables.text",
        "variables.a\n+ variables.b",
        "'use strict'",
        "getInput('none')",
    ],
)
def test_corner_cases(source: str) -> None:
    assert outcome(source) == by_engine(source)


@pytest.mark.parametrize(
    "source",
    ["a = 1", "a", "f(1)", "x => x", "`a`", "/a/", "[1]", "{}", "1 // c", "1 /* c */", "a ?? b", "a?.b", "2 ** 3", "1e5",
     "a++", "typeof a", "new A()", "getA(1)", "1 << 2", "1 & 2", "'a\\n'", "01", "0x10", "1n", "1.", ".5", "variables[a]",
     "a, b", "await x", "+1", "~1", "(" * 60 + "1" + ")" * 60, "1" + " + 1" * 100, "!" * 60 + "1", "'a' in b", ""],
)  # fmt: skip
def test_everything_else_is_left_to_the_engine(source: str) -> None:
    with pytest.raises(NotSimple):
        parse(source)


def test_a_simple_expression_asks_no_other_process(place: PlaceMaker) -> None:
    class Refusing:
        def ask(self, request: Request) -> Answer:
            raise AssertionError("asked")

    here = place({"total": 1500, "kind": "vip"}, {"limit": 1000})
    compiled = JavaScriptEvaluator(isolation=Refusing()).compile(
        "getTotal() > getInput('limit') && variables.kind === 'vip' ? 'big ' + getTotal() : 'small'", here.names
    )
    assert compiled.evaluate(here.scope) == "big 1500"
