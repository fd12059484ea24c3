"""`$python`: what it gives, how names are bound, what its errors say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import msgspec
import pydantic
import pytest

from holdfast.errors import ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax
from holdfast.expressions.python import PythonEvaluator

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import Place, PlaceMaker


@dataclass
class Line:
    price: Decimal
    count: int = 1


class Customer(msgspec.Struct):
    name: str


class Address(pydantic.BaseModel):
    city: str


class Point(NamedTuple):
    x: int


class Color(Enum):
    RED = "r"


@pytest.fixture
def here(place: PlaceMaker) -> Place:
    return place(
        {
            "x": 3,
            "y": 4,
            "order": {"total": 5, "items": [1, 2], "deep": {"er": "!"}},
            "lines": [Line(Decimal("1.5"), 2), Line(Decimal(2))],
            "customer": Customer("Ada"),
            "address": Address(city="Rome"),
            "point": Point(7),
            "color": Color.RED,
            "when": datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        },
        {"n": 7, "x": "hidden by the variable"},
        z=1,
        y="nearer",
    )


VALUES: list[tuple[str, Any]] = [
    ("x * 2 + 4 > 5", True),
    ("x*2+x > 5 and not x == 4", True),
    ("2 * x - 1", 5),
    ("7 // 2 + 7 % 4 + 2 ** 3", 14),
    ("x / 2", 1.5),
    ("-x + +x", 0),
    ("~x & 7 | 8 ^ 1", 13),
    ("1 << 4 >> 2", 4),
    ("1 < x < 5", True),
    ("1 < x < 2 < 1 / 0", False),
    ("x if x > 5 else 'small'", "small"),
    ("None or 'default'", "default"),
    ("x is None", False),
    ("y", "nearer"),
    ("z", 1),
    ("n", 7),
    ("inputs.n + inputs['n']", 14),
    ("inputs.x", "hidden by the variable"),
    ("variables.x + variables['x'] + variables.get('x')", 9),
    ("order.total + order['total'] + order.get('total')", 15),
    ("order.items", [1, 2]),
    ("order.items()", [("total", 5), ("items", [1, 2]), ("deep", {"er": "!"})]),
    ("order.deep.er", "!"),
    ("order.get('nope', 9)", 9),
    ("sum(line.price * line.count for line in lines)", Decimal("5.0")),
    ("customer.name + address.city + str(point.x) + color.value", "AdaRome7r"),
    ("[a * 2 for a in order['items'] if a > 1]", [4]),
    ("{a: b for a, b in [(1, 2), (3, 4)]}", {1: 2, 3: 4}),
    ("{a % 2 for a in range(5)}", {0, 1}),
    ("[(a, b) for a in range(2) for b in range(a + 1)]", [(0, 0), (1, 0), (1, 1)]),
    ("[x for x in range(2)] + [x]", [0, 1, 3]),
    ("[*order['items'], 3]", [1, 2, 3]),
    ("{**order, 'total': 6}['total']", 6),
    ("{'a': 1} | {'b': 2}", {"a": 1, "b": 2}),
    ("(1, 2)[-1]", 2),
    ("'hello'[1:3] + [1, 2, 3][::-1][0].bit_length() * 'x'", "elxx"),
    ("sorted([3, 1, 2], key=lambda a: -a)", [3, 2, 1]),
    ("sorted(['b', 'A'], key=lambda s: s.lower(), reverse=True)", ["b", "A"]),
    ("max(lines, key=lambda line: line.price).count", 1),
    ("min([], default=0) + max(1, 2)", 2),
    ("any(1 / a for a in [1, 0])", True),
    ("all([])", True),
    ("list(zip([1, 2], 'ab')) + enumerate('c')", [(1, "a"), (2, "b"), (0, "c")]),
    ("reversed(range(3))", [2, 1, 0]),
    ("round(2.675, 2) + round(Decimal('2.5'))", 4.67),
    ("int('12') + int(2.9) + int('ff', 16)", 269),
    ("float('1.5') + bool(1)", 2.5),
    ("Decimal('1.10').quantize(Decimal('0.1'))", Decimal("1.1")),
    ("isinstance(x, (int, str)) and not isinstance(x, list)", True),
    ("f'{x:>4}|{x!r:<3}|{1.5:.2f}|{order}'", "   3|3  |1.50|{'total': 5, 'items': [1, 2], 'deep': {'er': '!'}}"),
    ("f'{when:%Y-%m-%d}' + f'{x:{z + 4}}'", "2024-02-29    3"),
    ("'a-b'.split('-') + ['x'.join(['1', '2'])]", ["a", "b", "1x2"]),
    ("' Ab '.strip().lower().replace('a', 'c').center(4)", " cb "),
    ("'b' in 'abc' and 2 not in [1] and 'total' in order", True),
    ("when + timedelta(days=1)", datetime(2024, 3, 1, 12, 30, tzinfo=UTC)),
    ("(when - timedelta(hours=1)).hour + when.date().day", 40),
    ("date(2024, 1, 2).isoformat()", "2024-01-02"),
    ("datetime.fromisoformat('2024-01-02T03:04:05+00:00').astimezone(timezone.utc).minute", 4),
    ("json.loads('{\"a\": [1]}')", {"a": [1]}),
    ("json.dumps({'d': lines[0].price, 'w': date(2024, 1, 2)})", '{"d": 1.5, "w": "2024-01-02"}'),
    ("math.floor(2.7) + math.ceil(Decimal('1.1'))", 4),
    ("UUID('00000000-0000-0000-0000-000000000001')", UUID(int=1)),
    ("set([1, 2]) & {2} - {3}", {2}),
    ("'é'.encode().decode()", "é"),
    ("instance.id + '/' + instance.correlation_id + '/' + instance.definition_id", "instance-1/customer-7/order"),
    ("instance.version", 3),
    ("last_result", "the last"),
    ("outputs.check.total + outputs['check']['total']", 84),
    ("outputs.check", "only"),
    ("output_of('check', 'total')", 42),
    ("input.Get('n') + output.Get('check', 'total')", 49),
    ("output.LastResult + execution_context.WorkflowInstanceId", "the lastinstance-1"),
    ("execution_context.GetVariable('x')", 3),
    ("  x\n", 3),
]


@pytest.mark.parametrize(("source", "value"), VALUES, ids=[source for source, _ in VALUES])
def test_gives_what_python_gives(here: Place, source: str, value: Any) -> None:
    found = here.evaluate("python", source)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("ordr.total", ["'ordr' is not defined", "did you mean 'order'", "x, order"]),
        ("inputs.m", ["no input 'm'", "inputs: n, x"]),
        ("variables.q", ["no variable 'q'"]),
        ("lne(x)", ["no function 'lne'", "did you mean 'len'"]),
        ("x.__class__", ["begin with _"]),
        ("datetime.now()", ["no clock", "may run twice"]),
        ("'{}'.format(x)", ["f-string"]),
        ("order.append(1)", ["no method 'append'"]),
        ("instance.nam", ["did you mean 'name'"]),
        ("inputs", ["name a member"]),
    ],
)
def test_names_are_bound_when_compiled(here: Place, source: str, words: list[str]) -> None:
    with pytest.raises(ExpressionRefused) as caught:
        PythonEvaluator().compile(source, here.names)
    message = str(caught.value)
    assert [word for word in words if word not in message] == []
    assert source in message
    assert (caught.value.language, caught.value.source) == ("python", source)


def test_unknown_names_are_listed_inside_a_comprehension_too(here: Place) -> None:
    with pytest.raises(ExpressionRefused, match="did you mean 'entry'"):
        here.evaluate("python", "[entri for entry in lines]")


@pytest.mark.parametrize("source", ["", "x +", "x = 1", "import os", "1 1", "return 1"])
def test_what_is_no_expression_is_a_syntax_error(here: Place, source: str) -> None:
    with pytest.raises(ExpressionSyntax, match="is not Python"):
        PythonEvaluator().compile(source, here.names)


@pytest.mark.parametrize(
    ("source", "cause", "message"),
    [
        ("1 / 0", ZeroDivisionError, "`1 / 0` failed: division by zero"),
        ("order.nope", KeyError, "there is no 'nope'"),
        ("lines[5]", IndexError, "index out of range"),
        ("'a' + x", TypeError, "str + int is not possible; write str(…) around the number"),
        ("'a' % 1", TypeError, "f-string"),
        ("customer.age", AttributeError, "Customer has no field 'age'; it has name"),
        ("lines.upper()", AttributeError, "list has no method 'upper' here; it has copy, count, index"),
        ("int('x')", ValueError, "invalid literal"),
    ],
)
def test_failures_chain_their_cause_and_quote_the_text(
    here: Place, source: str, cause: type[Exception], message: str
) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        here.evaluate("python", source)
    assert isinstance(caught.value.__cause__, cause)
    assert message in str(caught.value)
    assert source in str(caught.value)


def test_the_names_it_reads_are_told_with_their_values(here: Place) -> None:
    compiled = PythonEvaluator().compile("x + z + n + outputs.check.total > 0 and instance.id and x", here.names)
    seen = {name: read(here.scope) for name, read in compiled.reads}
    assert seen == {"x": 3, "z": 1, "n": 7, "outputs.check.total": 42, "instance.id": "instance-1"}
    assert not compiled.constant


def test_at_most_eight_names_are_told(place: PlaceMaker) -> None:
    here = place({f"v{number}": number for number in range(20)})
    compiled = PythonEvaluator().compile(" + ".join(f"v{number}" for number in range(20)), here.names)
    assert [name for name, _ in compiled.reads] == [f"v{number}" for number in range(8)]
    assert compiled.evaluate(here.scope) == sum(range(20))


@pytest.mark.parametrize(("source", "constant"), [("1 + 2", True), ("'a'", True), ("[1]", False), ("x", False)])
def test_constants_are_told_unless_they_could_be_changed(here: Place, source: str, constant: bool) -> None:
    assert PythonEvaluator().compile(source, here.names).constant is constant


def test_each_evaluation_gives_a_collection_of_its_own(here: Place) -> None:
    evaluate = PythonEvaluator().compile("[1, {'a': 2}]", here.names).evaluate
    first, second = evaluate(here.scope), evaluate(here.scope)
    assert first is not second
    assert first[1] is not second[1]


def test_the_budget_starts_anew_with_each_evaluation(here: Place) -> None:
    evaluate = PythonEvaluator(fuel=2_000).compile("len([a for a in range(300)])", here.names).evaluate
    assert [evaluate(here.scope) for _ in range(20)] == [300] * 20
    with pytest.raises(ExpressionLimit, match="too many steps"):
        PythonEvaluator(fuel=2_000).compile("len([a for a in range(900)])", here.names).evaluate(here.scope)


def test_a_variable_may_have_the_name_of_a_root_or_a_function(place: PlaceMaker) -> None:
    here = place({"inputs": {"n": 1}, "time": {"hour": 2}, "len": 5})
    assert here.evaluate("python", "inputs.n + time.hour + len + len([1])") == 9


def test_dates_count_as_data(here: Place) -> None:
    assert here.evaluate("python", "[date(2024, 1, 1), when.date()]") == [date(2024, 1, 1), date(2024, 2, 29)]
    assert here.evaluate("python", "timedelta(days=1) * 2 > timedelta(hours=30)") is True
    assert here.evaluate("python", "(when - when).total_seconds()") == 0
    assert here.evaluate("python", "timedelta(minutes=90)") == timedelta(minutes=90)
