"""Ways out of the Python sandbox, and ways to make it burn the machine. Each row must be refused or stopped."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import Place, PlaceMaker

_MEMORY = 120 * 1024 * 1024


@dataclass
class Account:
    """A host's value with things that must stay out of reach."""

    owner: str = "ada"
    balance: int = 10
    _pin: str = "1234"
    callback: Any = field(default=print)
    registry: ClassVar[dict[str, str]] = {"secret": "s"}

    @property
    def hidden(self) -> str:
        return self._pin

    def drain(self) -> str:
        self.balance = 0
        return "drained"

    def __add__(self, other: object) -> str:
        return "ran host code"

    def __mul__(self, other: object) -> str:
        return "ran host code"

    def __contains__(self, item: object) -> bool:
        raise AssertionError("ran host code")


class Plain:
    """A host's object that is no data."""

    def __init__(self) -> None:
        self.secret = "s"

    def __len__(self) -> int:
        raise AssertionError("ran host code")


@pytest.fixture
def here(place: PlaceMaker) -> Place:
    return place(
        {
            "account": Account(),
            "plain": Plain(),
            "text": "text",
            "n": 3,
            "items": [3, 1, 2],
            "record": {"a": 1},
            "growing": defaultdict(list),
            "function": lambda *args: "called",
            "kind": Account,
        }
    )


ESCAPES = [
    # dunder and MRO walks
    "().__class__",
    "''.__class__.__mro__[1].__subclasses__()",
    "().__class__.__bases__[0].__subclasses__()",
    "[].__class__.__base__",
    "account.__class__",
    "account.__dict__",
    "account.__init__.__globals__",
    "function.__globals__['__builtins__']",
    "function.__code__",
    "record.__getattribute__('a')",
    "text.__add__('x')",
    "(1).__class__.__subclasshook__",
    "account._pin",
    "record._private",
    "variables.__class__",
    "inputs.__class__",
    "instance.__class__",
    "instance.__dict__",
    "outputs.__class__.__mro__.x",
    # not fields
    "account.hidden",
    "account.drain",
    "account.drain()",
    "account.registry",
    "plain.secret",
    "kind.registry",
    "kind.owner",
    "kind()",
    "kind.mro()",
    "type.mro(int)",
    "plain['secret']",
    "len(plain)",
    "str(plain)",
    "f'{plain}'",
    "sorted(plain)",
    "[x for x in plain]",
    "[*plain]",
    "'s' in plain",
    "'s' in account",
    "account + 1",
    "account * 2",
    # calling what is not on the list
    "function()",
    "account.callback('x')",
    "items[0]()",
    "(lambda: 1)()",
    "[f() for f in [1]]",
    "(x for x in items)",
    "lambda: 1",
    "sorted(items, key=function)",
    "sorted(items, key=account.callback)",
    "max(items, key=len)",
    "sorted(items, key=lambda *a: 1)",
    "sorted(items, key=lambda a, b=1: 1)",
    "min(items, key=lambda x: kind)(1)",
    # builtins
    "__import__('os')",
    "__builtins__",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "open('/etc/hostname')",
    "getattr(account, '_pin')",
    "setattr(account, 'balance', 0)",
    "vars(account)",
    "globals()",
    "locals()",
    "dir()",
    "type(account)",
    "type('X', (), {})",
    "object",
    "super()",
    "id(account)",
    "hash('x')",
    "input('x')",
    "print('x')",
    "breakpoint()",
    "exit()",
    "memoryview(b'x')",
    "bytearray(5)",
    "iter(items)",
    "next(iter(items))",
    "map(str, items)",
    "len",
    "str.mro",
    "int.from_bytes(b'1')",
    "datetime.__class__",
    "datetime.now()",
    "date.today()",
    "datetime.strptime('1', '%d')",
    "math.factorial(100000)",
    "math.__loader__",
    "json.__builtins__",
    "json.codecs",
    "json.loads('{}', object_hook=function)",
    "json.dumps({}, default=function)",
    "json.dumps(plain)",
    "re.match('(a+)+$', 'a')",
    "S",
    "S[0]",
    "B",
    "g_add",
    "f_len",
    "v_x",
    "Trouble",
    # format strings
    "'{0.__class__}'.format(account)",
    "'{0.__class__}'.format_map(record)",
    "str.format('{0.__class__}', account)",
    "f'{account.__class__}'",
    "f'{account:{plain}}'",
    "format(account, 'x')",
    "f'{account!r:{account.__class__}}'",
    "'%s' % account",
    "'%(a)s' % record",
    "b'%d' % 1",
    # frames of generators and coroutines
    "(x for x in items).gi_frame",
    "(x for x in items).gi_frame.f_back.f_globals",
    "[g.gi_frame for g in [(x for x in items)]]",
    "(yield 1)",
    "(await text)",
    "[x async for x in items]",
    "any(g for g in (x for x in items))",
    "list((y for y in items) for x in items)[0]",
    # names and scopes
    "(n := 5)",
    "[(y := x) for x in items]",
    "[x for x in items] + [x]",
    "unknown",
    "nn",
    "print",
    # ways to call with other people's arguments
    "max(*items)",
    "dict(**record)",
    "sorted(items, **record)",
    # type confusion
    "isinstance(account, kind)",
    "isinstance(n, type)",
    "isinstance(n, (int, kind))",
    "1j",
    "...",
    "(-1) ** 0.5",
    "text.encode('rot13')",
    "text.encode('zlib_codec')",
    "b'x'.decode('../../os')",
    "items.append(4)",
    "record.update({'b': 1})",
    "record.pop('a')",
    "record.setdefault('b', 2)",
    "growing['new']",
    "growing.new",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_no_way_out(here: Place, source: str) -> None:
    with pytest.raises((ExpressionRefused, ExpressionFailed, ExpressionSyntax)):
        here.evaluate("python", source)
    assert here.value("account").balance == 10
    assert here.value("items") == [3, 1, 2]
    assert here.value("record") == {"a": 1}
    assert here.value("growing") == {}


BOMBS = [
    "9 ** 9 ** 9",
    "2 ** 100000000",
    "(-7) ** 99999999",
    "pow(9, 9 ** 9)",
    "1 << 10 ** 10",
    "1 << 99999999999",
    "10 ** 1000 * 10 ** 1000",
    "'a' * 10 ** 9",
    "10 ** 9 * 'a'",
    "b'a' * 10 ** 9",
    "[0] * 10 ** 9",
    "(0,) * 10 ** 9",
    "('a' * 1000000 + 'a')",
    "'a'.center(10 ** 10)",
    "'a'.ljust(2 * 10 ** 9, 'b')",
    "'a'.zfill(10 ** 10)",
    "('a' * 1000).join(['b'] * 100000)",
    "('a' * 100000).replace('', 'b' * 1000)",
    "('a' * 100000).replace('a', 'b' * 100000)",
    "'%1000000000d' % 1",
    "f'{n:>1000000000}'",
    "f'{n:1000000000d}'",
    "f'{n:.1000000000f}'",
    "f'{n:{10**9}}'",
    "format(n, '999999999')",
    "int('9' * 1000000)",
    "int('f' * 1000000, 16)",
    "float('9' * 1000000)",
    "Decimal('1e999999999')",
    "Decimal('1e999999999') + 1",
    "Decimal('9' * 1000000)",
    "int(Decimal('1e6000'))",
    "Decimal(10) ** 999999999",
    "Decimal('9.99') ** Decimal('99999999999')",
    "round(5, -10 ** 9)",
    "round(Decimal('1e6100'))",
    "math.floor(Decimal('1e5000'))",
    "range(10 ** 9)",
    "len(range(0, 10 ** 12, 2))",
    "list(range(-10 ** 9, 0))",
    "range(10 ** 9, 0, -1)",
    "sum(range(10 ** 8))",
    "[a for a in range(1000) for b in range(1000) for c in range(1000)]",
    "[[b for b in range(1000)] for a in range(100000)]",
    "sum(1 for a in range(100000) for b in range(100000))",
    "any(a < 0 for a in range(100000) for b in range(100000))",
    "sorted(range(10000), key=lambda x: sum(range(10000)))",
    "max(range(100000), key=lambda x: [y for y in range(1000)])",
    "{a: 'x' * 100000 for a in range(100000)}",
    "['x' * 100000 + str(a) for a in range(100000)]",
    "[f'{a}' * 100000 for a in range(100000)]",
    "[(a + 1) ** 900 for a in range(200000)]",
    "[x for x in zip(range(200000), range(200000))] * 1000",
    # values that hold each other twice: small in memory, endless to write, compare or hash
    (
        "[[[[[[[[h*9,h*9]*9 for h in [g*9]] for g in [f*9]] for f in [e*9]] for e in [d*9]] for d in [c*9]] "
        "for c in [[b]*9]] for b in [[1]*9]]"
    ),
    "[str([[e]*99]) for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99] for e in [[d]*99]]",
    "[d == e for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99] for e in [[[b]*99]*99]]",
    "[{d} for a in [(1,)*99] for b in [(a,)*99] for c in [(b,)*99] for d in [(c,)*99]]",
    "[{d: 1} for a in [(1,)*99] for b in [(a,)*99] for c in [(b,)*99] for d in [(c,)*99]]",
    "[record.get(d) for a in [(1,)*99] for b in [(a,)*99] for c in [(b,)*99] for d in [(c,)*99]]",
    "[d in record for a in [(1,)*99] for b in [(a,)*99] for c in [(b,)*99] for d in [(c,)*99]]",
    "[json.dumps(d) for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    "[n[d] for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    "[items.index(d) for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    "[{**record, d: 1} for a in [(1,)*99] for b in [(a,)*99] for c in [(b,)*99] for d in [(c,)*99]]",
    "[f'{d}' for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    "[max(d, d) for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    "[d for a in [[1]*99] for b in [[a]*99] for c in [[b]*99] for d in [[c]*99]]",
    # keys that collide
    "{i * 2305843009213693951 for i in range(200000)}",
    "{i * 2305843009213693951: 1 for i in range(200000)}",
    "set([i * 2305843009213693951 for i in range(200000)])",
    "dict([(i * 2305843009213693951, 1) for i in range(100000)])",
    "[i * 2305843009213693951 in record for i in range(200000)]",
    # nested data
    "json.loads('[' * 500000)",
    "json.loads('[' * 100000 + ']' * 100000)",
    "json.loads('9' * 100000)",
    "json.loads('[' * 200 + ']' * 200)",
    "json.dumps([items] * 200000) * 100",
    "[sorted(big) for big in [list(range(10000))] for x in range(10000)]",
    "[big[1:] for big in [list(range(10000))] for x in range(10000)]",
    "[big == big + [1] for big in [list(range(10000))] for x in range(10000)]",
    "[t in big for big in [['a' * 1000] * 1000] for t in big for u in big]",
    "['a' in big for big in ['b' * 1000000] for x in range(10000)]",
    "['b' * 100000 == big for big in ['b' * 100000] for x in range(10000)]",
    "[big.upper() for big in ['b' * 100000] for x in range(10000)]",
    "[big.split('b') for big in ['b' * 100000] for x in range(10000)]",
    "[big.count('b') for big in ['b' * 100000] for x in range(100000)]",
    # dates
    "datetime(9999, 12, 31) + timedelta(days=1)",
    "timedelta(days=10 ** 10)",
    "timedelta(days=1) * 10 ** 100",
    "date(10 ** 10, 1, 1)",
    "datetime(2024, 1, 1).strftime('%1000000000d')",
    "f'{datetime(2024, 1, 1):%0999999999d}'",
    "datetime.fromisoformat('2' * 1000000)",
    "chr(10 ** 10)",
    "1 / 0",
    "1 % 0",
]


@pytest.mark.parametrize("source", BOMBS)
def test_bombs_are_stopped_in_bounded_memory(here: Place, source: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((ExpressionLimit, ExpressionFailed)):
            here.evaluate("python", source)
        assert tracemalloc.get_traced_memory()[1] < _MEMORY
    finally:
        tracemalloc.stop()


HUGE = {
    "source": "1 + " * 10_000 + "1",
    "parentheses": "(" * 300 + "1" + ")" * 300,
    "brackets": "[" * 5_000 + "]" * 5_000,
    "unary": "-" * 9_000 + "1",
    "not": "not " * 3_000 + "1",
    "attributes": "record" + ".a" * 3_000,
    "conditional": "1 if n else " * 1_000 + "1",
    "lambdas": "sorted(items, key=lambda x: " * 100 + "1" + ")" * 100,
    "nested in": "n in [" * 150 + "1" + "]" * 150,
    "integer": "9" * 5_000,
    "hexadecimal integer": "0x" + "f" * 5_000,
    "comparisons": " < ".join(["n"] * 6_000),
    "list": "[" + "1," * 9_000 + "]",
    "null byte": "1\0",
    "f-string": "f'{" * 100 + "1" + "}'" * 100,
}


@pytest.mark.parametrize("source", HUGE.values(), ids=HUGE.keys())
def test_texts_that_are_too_much_are_refused_before_they_run(here: Place, source: str) -> None:
    with pytest.raises((ExpressionRefused, ExpressionSyntax)):
        here.evaluate("python", source)


SCRIPTS = [
    "while True: pass",
    "x = 'a'\nfor i in range(100): x = x + x",
    "x = 2\nfor i in range(100): x = x * x",
    "x = 2\nfor i in range(100): x **= 2",
    "x = 1\nwhile True: x += x",
    "x = [1]\nfor i in range(100): x = [x, x]\nx",
    "x = [1]\nfor i in range(100): x = [x, x]\nx == [x]",
    "x = (1,)\nfor i in range(100): x = (x, x)\n{x}",
    "x = {}\nfor i in range(100): x = {'a': x, 'b': x}\nstr(x)",
    "x = []\nx.append(x)\nx",
    "x = []\nx.append(x)\nstr(x)",
    "x = {}\nx['x'] = x\nx == x",
    "x = []\nn = x\nx.append(x)",
    "x = [1]\nwhile True: x.append(1)",
    "x = ['a']\nfor i in range(100): x.extend(x)",
    "x = {}\ni = 0\nwhile True:\n  i += 2305843009213693951\n  x[i] = 1",
    "s = set()\ni = 0\nwhile True:\n  i += 2305843009213693951\n  s.add(i)",
    "x = list(range(100000))\nwhile True: x.insert(0, 1)",
    "x = list(range(100000))\nwhile True: x.reverse()",
    "x = f'a'\nfor i in range(100): x = f'{x}{x}'",
    "x = ''\nfor i in range(100000): x = x + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
]


@pytest.mark.parametrize("source", SCRIPTS)
def test_scripts_that_never_end_or_grow_are_stopped(here: Place, source: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ExpressionLimit):
            here.run("python", source)
        assert tracemalloc.get_traced_memory()[1] < _MEMORY
    finally:
        tracemalloc.stop()
    assert here.value("n") == 3


REFUSED_STATEMENTS = [
    "import os",
    "from os import path",
    "def f(): return 1",
    "class X: pass",
    "global n",
    "try:\n  1\nexcept Exception as e:\n  e.__traceback__",
    "with text as t: pass",
    "raise account",
    "async def f(): pass",
    "del n",
    "del account.balance",
    "account.balance = 0",
    "account._pin = 0",
    "items[0] = 1",
    "items.append(1)",
    "items.clear()",
    "record['b'] = 1",
    "record.b = 1",
    "del record['a']",
    "growing['x'] += 1",
    "x = items\nx.append(1)",
    "x = record\nx['b'] = 1",
    "for x in [items]: x.append(1)",
    "a, b = items, 1\na.append(1)",
    "y = [items]\ny[0].append(1)",
    "instance.name = 'x'",
    "inputs.n = 1",
    "S = 5\nS[0]",
    "B = [10 ** 12]\nB = g_add",
    "x.append(1)",
    "match n:\n  case 3: 1",
    "assert n",
    "set_outcome(plain)",
    "variables.unknown = 1",
    "variables.set(text, 1)",
    "return function()",
    "print = 5\nprint('x')",
    "x: int\nx",
    "items.sort(key=function)",
    "x = list(items)\nx.__class__ = 5",
    "x = [1]\ny = x.append",
    "*x, y = items",
]


@pytest.mark.parametrize("source", REFUSED_STATEMENTS)
def test_scripts_change_nothing_of_the_host(here: Place, source: str) -> None:
    with pytest.raises(ExpressionError):
        here.run("python", source)
    assert here.value("account") == Account()
    assert here.value("items") == [3, 1, 2]
    assert here.value("record") == {"a": 1}
    assert here.value("growing") == {}
    assert here.facts.name == "First order"


def test_generated_code_reaches_nothing_of_pythons_own(here: Place) -> None:
    from holdfast.expressions.python import PythonEvaluator

    evaluate: Any = PythonEvaluator().compile("n + 1", here.names).evaluate
    assert evaluate.__globals__["__builtins__"] == {}
    assert not {"eval", "exec", "open", "getattr", "__import__", "type", "object"} & set(evaluate.__globals__)


@pytest.mark.parametrize("source", ["dict(a=1, a=2)", "max(1, key=1, key=2)"])
def test_a_repeated_keyword_is_an_error_of_syntax(place: PlaceMaker, source: str) -> None:
    with pytest.raises((ExpressionSyntax, ExpressionRefused)):
        place({"x": 1}).evaluate("python", source)


@pytest.mark.parametrize("source", ["break", "continue", "if x:\n    break", "for i in [1]:\n    pass\ncontinue"])
def test_break_outside_of_a_loop_is_an_error_of_syntax(place: PlaceMaker, source: str) -> None:
    with pytest.raises(ExpressionSyntax):
        place({"x": 1}).run("python", source)


@pytest.mark.parametrize(
    "source",
    [
        'datetime(b"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff")',
        'date(b"\\xff\\xff\\xff\\xff")',
        'time(b"\\xff" * 6)',
    ],
)
def test_a_moment_is_not_made_of_the_bytes_of_a_pickle(place: PlaceMaker, source: str) -> None:
    with pytest.raises(ExpressionFailed, match="takes numbers"):
        place({"x": 1}).evaluate("python", source)


@pytest.mark.parametrize(
    "source",
    [
        "text.rfind('a' * 75000 + 'b' + 'a' * 75000)",
        "text.rpartition('a' * 75000 + 'b' + 'a' * 75000)",
        "text.rsplit('a' * 75000 + 'b' + 'a' * 75000)",
        "'a' * 75000 + 'b' + 'a' * 75000 in text",
        "str([[Decimal('0.' + '1' * 4990)] * 250000] * 6)",
        "json.dumps([text] * 100)",
        "[[0] * 250000] * 250000",
    ],
)
def test_native_costs_are_charged_before_they_arise(place: PlaceMaker, source: str) -> None:
    with pytest.raises(ExpressionLimit):
        place({"text": "a" * 300_000}).evaluate("python", source)


def test_in_is_no_part_of_a_chain(place: PlaceMaker) -> None:
    here = place({"x": 1, "items": [1, 2]})
    assert here.evaluate("python", "0 < x and x in items and 3 not in items") is True
    with pytest.raises(ExpressionRefused, match="chain"):
        here.evaluate("python", "0 < x in items")
