"""`$javascript`: Elsa's functions, how values cross, what a script leaves behind."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from holdfast.errors import ExpressionFailed, ExpressionLimit, ExpressionSyntax
from holdfast.expressions.javascript.engine import JsContext, JsLimits, QuickJs
from holdfast.expressions.javascript.evaluator import JavaScriptEvaluator
from holdfast.model.scope import Names

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import Place, PlaceMaker

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass
class Line:
    price: Decimal


class Color(Enum):
    RED = "r"


@pytest.fixture
def here(place: PlaceMaker) -> Place:
    variables = {"counter": 1, "Products": [{"id": 1, "price": 12.99}], "my name": "spaced", "Empty": None, "total": 5}
    return place(variables, {"Message": "hello", "amount": 3}, CurrentValue="Apple", total=6)


RESULTS: list[tuple[str, Any]] = [
    ("return false;", False),
    ("`Bar`", "Bar"),
    ('["Apple", "Banana"]', ["Apple", "Banana"]),
    ("({ Message: 'Hello' })", {"Message": "Hello"}),
    ("42", 42),
    ("return 42", 42),
    ("84 / 2", 42),
    ("42.5", 42.5),
    ("2 ** 40", 2**40),
    ("10n ** 30n", 10**30),
    ("[1, 2.5, 84 / 2, 5n]", [1, 2.5, 42, 5]),
    ("undefined", None),
    ("null", None),
    ("", None),
    ("(x) => x", None),
    ("Infinity", math.inf),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("new Map([['a', 1]])", {"a": 1}),
    ("[new Set([1, 2])]", [[1, 2]]),
    ("'\\ud83d\\ude00'", "😀"),
    ("'\\ud83d'", "\ufffd"),
    ("'\\\\ud83d'", "\\ud83d"),
    ("if (1) { 5 }", 5),
    ("let a = 1; a + 1", 2),
    ("x = 3; x + 1", 4),
    ("if (true) return 'early'; 'late'", "early"),
    ("function f() { return 7 } f()", 7),
    ("Promise.resolve(5)", 5),
    ("return await Promise.resolve(7)", 7),
    ("(async () => { await null; return { a: 1 } })()", {"a": 1}),
    ("getCounter() + 1", 2),
    ("getCounter() > 1", False),
    ("getProducts()[0].price", 12.99),
    ("`Current fruit: ${getCurrentValue()}`", "Current fruit: Apple"),
    ("getTotal()", 6),
    ('"Parent: " + getMessage();', "Parent: hello"),
    ("getAmount() + 1", 4),
    ("getInput('Message') + getInput('amount')", "hello3"),
    ("getInput('nope')", None),
    ("getVariable('counter')", 1),
    ("getVariable('coun' + 'ter')", 1),
    ("getVariable('nope')", None),
    ("getInput('Mess' + 'age')", "hello"),
    ("variables.Products[0].id", 1),
    ('variables["my name"]', "spaced"),
    ("variables['my' + ' name']", "spaced"),
    ("Object.keys(variables).sort()", ["CurrentValue", "Empty", "Products", "counter", "my name", "total"]),
    ("getOutputFrom('check', 'total')", 42),
    ("getOutputFrom('check')", "only"),
    ("getOutputFrom('ch' + 'eck', 'Total')", 42),
    ("getTotalFromCheck()", 42),
    ("getLastResult()", "the last"),
    (
        "getWorkflowInstanceId() + getWorkflowDefinitionId() + getWorkflowDefinitionVersionId()",
        "instance-1orderorder-3",
    ),
    ("getWorkflowDefinitionVersion()", 3),
    ("getCorrelationId() + getWorkflowInstanceName()", "customer-7First order"),
    (
        "[isNullOrWhiteSpace(' '), isNullOrWhiteSpace(null), isNullOrEmpty(''), isNullOrEmpty('a')]",
        [True, True, True, False],
    ),
    ("toJson({ a: [1] })", '{"a":[1]}'),
    ("parseGuid('{0123456789ABCDEF0123456789abcdef}')", "01234567-89ab-cdef-0123-456789abcdef"),
    ("bytesFromString('hé')", "hé".encode()),
    ("bytesToString(bytesFromString('hé'))", "hé"),
    ("bytesToBase64(bytesFromBase64('aMOp'))", "aMOp"),
    ("stringToBase64('hé') + stringFromBase64('aMOp')", "aMOphé"),
    ("streamToBase64(streamToBytes([104, 105]))", "aGk="),
    ("eval('get' + 'Counter')() + 1", 2),
    ("globalThis['get' + 'Amount']()", 3),
    ("new Function('return getVariable(\"counter\")')()", 1),
]


@pytest.mark.parametrize(("source", "value"), RESULTS, ids=[source for source, _ in RESULTS])
def test_the_value_of_the_last_expression_or_return(here: Place, source: str, value: Any) -> None:
    found = here.evaluate("javascript", source)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number(here: Place) -> None:
    assert math.isnan(here.evaluate("javascript", "NaN"))


CROSSINGS: list[tuple[Any, str, Any]] = [
    (Decimal("12.99"), "variables.v", 12.99),
    (Decimal("0.1234567890123456789012345"), "variables.v", "0.1234567890123456789012345"),
    (Decimal("1e999"), "variables.v", "1E+999"),
    (2**53 - 1, "variables.v + 0", 2**53 - 1),
    (2**53 + 1, "variables.v", "9007199254740993"),
    (datetime(2024, 1, 2, 3, 4, tzinfo=UTC), "new Date(variables.v).getUTCHours()", 3),
    (date(2024, 1, 2), "variables.v", "2024-01-02"),
    (timedelta(days=1, hours=2, minutes=3, seconds=4), "variables.v", "1.02:03:04"),
    (timedelta(seconds=-1.5), "variables.v", "-00:00:01.500000"),
    (UUID(int=1), "variables.v", "00000000-0000-0000-0000-000000000001"),
    (b"\x00\xff", "variables.v[1]", 255),
    ([b"hi"], "variables.v[0]", base64.b64encode(b"hi").decode()),
    (Color.RED, "variables.v", "r"),
    ((1, 2), "variables.v.length", 2),
    (Line(Decimal(2)), "variables.v.price + 1", 3),
    ({"a": {1: math.nan}}, "variables.v.a['1']", None),
    ({"__proto__": {"polluted": 1}}, "variables.v.polluted === undefined && Object.keys(variables.v).length", 1),
    ("\u2028'`${1}", "variables.v", "\u2028'`${1}"),
]


@pytest.mark.parametrize(("given", "source", "value"), CROSSINGS, ids=[repr(given)[:40] for given, *_ in CROSSINGS])
def test_typed_values_cross_as_plain_ones(place: PlaceMaker, given: Any, source: str, value: Any) -> None:
    assert place({"v": given}).evaluate("javascript", source) == value


def test_a_value_that_cannot_cross_is_named(place: PlaceMaker) -> None:
    with pytest.raises(ExpressionFailed, match="type object cannot be used in JavaScript"):
        place({"v": object()}).evaluate("javascript", "variables.v")


@pytest.mark.parametrize(
    "source",
    ["setCounter(5)", "setVariable('counter', 5)", "setVariable('coun' + 'ter', 5)", "variables.counter = 5",
     "variables['counter'] += 4", "eval('variables.counter = 5')", "(async () => { await null; setCounter(5) })()"],
)  # fmt: skip
def test_variables_are_written_back(here: Place, source: str) -> None:
    here.evaluate("javascript", source)
    assert here.value("counter") == 5


def test_the_nearest_variable_is_written(here: Place) -> None:
    here.run("javascript", "setTotal(60); if (getTotal() !== 60) throw new Error('not seen')")
    assert here.value("total") == 60
    assert here.outside[here.outside[1].names["total"]] == 5


def test_changes_inside_a_value_are_written_and_null_is_a_value(here: Place) -> None:
    here.run("javascript", "variables.Products.push({ id: 2 }); variables.counter = null; variables.Empty = undefined")
    assert here.value("Products") == [{"id": 1, "price": 12.99}, {"id": 2}]
    assert here.value("counter") is None


def test_what_is_only_read_keeps_its_type(place: PlaceMaker) -> None:
    here = place({"price": Decimal("1.10"), "count": 1})
    here.run("javascript", "variables.count = variables.price > 1 ? 2 : 3")
    assert (here.value("count"), here.value("price")) == (2, Decimal("1.10"))
    assert isinstance(here.value("price"), Decimal)


def test_a_script_that_fails_leaves_everything_as_it_was(here: Place) -> None:
    with pytest.raises(ExpressionFailed, match="Error: boom"):
        here.run("javascript", "setCounter(9); setCorrelationId('x'); throw new Error('boom')")
    with pytest.raises(ExpressionFailed, match="no variable 'nope' to set"):
        here.run("javascript", "setCounter(9); setVariable('nope', 1)")
    assert (here.value("counter"), here.facts.correlation_id) == (1, "customer-7")


def test_correlation_id_and_name_can_be_set(here: Place) -> None:
    assert here.evaluate("javascript", "setCorrelationId('c2'); getCorrelationId()") == "c2"
    here.run("javascript", "setWorkflowInstanceName(null)")
    assert (here.facts.correlation_id, here.facts.name) == ("c2", None)


@pytest.mark.parametrize(
    ("source", "outcomes"),
    [
        ("1", None),
        ("setOutcome('Yes')", ("Yes",)),
        ("setOutcomes(['A', 'B'])", ("A", "B")),
        ("setOutcome('A'); setOutcome('B')", ("B",)),
    ],
)
def test_outcomes(here: Place, source: str, outcomes: tuple[str, ...] | None) -> None:
    assert here.run("javascript", source).outcomes == outcomes


def test_only_scripts_set_outcomes(here: Place) -> None:
    with pytest.raises(ExpressionFailed, match="setOutcome is not defined"):
        here.evaluate("javascript", "setOutcome('A')")


def test_guids_are_new_each_time(here: Place) -> None:
    source = "[...Array(30)].map(() => newGuid()).concat(newGuidString(), getGuidString())"
    guids = here.evaluate("javascript", source) + here.evaluate("javascript", "[newGuid()]")
    assert all(_GUID.fullmatch(guid) for guid in guids)
    assert len(set(guids)) == 33
    assert len(here.evaluate("javascript", "newShortGuid() + getShortGuid()")) == 44


def test_an_activity_that_does_not_exist(here: Place) -> None:
    with pytest.raises(ExpressionFailed, match="Activity not found: nope"):
        here.evaluate("javascript", "getOutputFrom('nope')")


@pytest.mark.parametrize("source", ["(1 +", "return return", "})", "let a; let a", "if ("])
def test_what_is_no_javascript_is_known_when_compiled(here: Place, source: str) -> None:
    with pytest.raises(ExpressionSyntax, match="is not JavaScript"):
        from holdfast.expressions.javascript import JavaScriptEvaluator

        JavaScriptEvaluator().compile(source, here.names)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nosuch", "ReferenceError: nosuch is not defined"),
        ("null.x", "TypeError: cannot read property 'x' of null"),
        ("throw { a: 1 }", "[object Object]"),
        ("throw { toString() { throw 1 } }", "an error"),
        ("(async () => { throw new Error('later') })()", "Error: later"),
        ("new Promise(() => {})", "never settled"),
        ("const a = {}; a.a = a; a", "circular"),
    ],
)
def test_failures_quote_the_text(here: Place, source: str, message: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        here.evaluate("javascript", source)
    assert message in str(caught.value)
    assert source[:40] in str(caught.value)


def test_what_it_reads_is_told(here: Place) -> None:
    from holdfast.expressions.javascript import JavaScriptEvaluator

    compiled = JavaScriptEvaluator().compile("getCounter() + getAmount()", here.names)
    assert {name: read(here.scope) for name, read in compiled.reads} == {"counter": 1, "amount": 3}


class Stalled(QuickJs):
    """An engine whose first contexts exceed their time limit, as on a machine that stalls."""

    def __init__(self, contexts: int) -> None:
        super().__init__()
        self.stalls = contexts

    def context(self, limits: JsLimits) -> JsContext:
        self.stalls -= 1
        return super().context(limits if self.stalls < 0 else JsLimits(time=timedelta(microseconds=-1)))


@pytest.mark.parametrize("contexts", [1, 2, 3])
def test_a_limit_while_parsing_is_an_error_and_never_another_form_of_the_text(contexts: int) -> None:
    """As the body of a function without `return`, `[1 + 1][0]` would give no value."""
    evaluator = JavaScriptEvaluator(Stalled(contexts))

    with pytest.raises(ExpressionLimit, match="too long"):
        evaluator.compile("[1 + 1][0]", Names(()))
