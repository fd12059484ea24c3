"""Random programs: what the sandbox lets through gives what Python gives, and nothing ever gets out or hangs."""

from __future__ import annotations

import math
import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import PlaceMaker

_VALUES: dict[str, Any] = {
    "x": 3,
    "y": -2.5,
    "s": "abc",
    "items": [3, 1, 2],
    "record": {"a": 1, "b": "z"},
    "flag": True,
}
_DATA = (int, float, str, bool, list, dict, tuple, set, bytes, Decimal, date, datetime, timedelta, type(None))

_leaves = st.sampled_from(
    [
        "x",
        "y",
        "s",
        "items",
        "record",
        "flag",
        "0",
        "1",
        "2",
        "7",
        "1.5",
        "'b'",
        "''",
        "None",
        "True",
        "[]",
        "{}",
        "(1, 2)",
    ]
)
_binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "|", "&", "^"])
_compare = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"])
_unary = st.sampled_from(["-", "+", "~", "not "])
_functions = st.sampled_from(
    ["len", "min", "max", "sum", "sorted", "abs", "any", "all", "str", "int", "float", "bool", "list", "tuple", "set",
     "repr", "round", "list(reversed", "list(enumerate"]
)  # fmt: skip
_methods = st.sampled_from(
    ["upper()", "strip('a')", "split('b')", "count(1)", "index(1)", "get('a')", "startswith('a')", "copy()", "isdigit()",
     "replace('a', 'bb')", "join(['p', 'q'])", "zfill(6)", "title()", "partition('b')", "bit_length()", "is_integer()"]
)  # fmt: skip


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _binary, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, _compare, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, _compare, inner, _compare, inner).map(lambda t: "(" + " ".join(t) + ")"),
        st.tuples(_unary, inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"{t[0]}[{t[1]}:{t[2]}]"),
        st.tuples(_functions, inner).map(lambda t: f"{t[0]}({t[1]})" + ")" * (t[0].count("("))),
        st.tuples(inner, _methods).map(lambda t: f"({t[0]}).{t[1]}"),
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]"),
        st.lists(inner, max_size=3).map(lambda parts: "{" + ", ".join(f"{i}: {p}" for i, p in enumerate(parts)) + "}"),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: "{" + ", ".join(parts) + "}"),
        st.tuples(inner, inner).map(lambda t: f"[{t[0]} for v in {t[1]}]"),
        st.tuples(inner, inner).map(lambda t: f"[(v, {t[0]}) for v in {t[1]} if v]"),
        st.tuples(inner, inner).map(lambda t: f"{{v: {t[0]} for v in {t[1]}}}"),
        st.tuples(inner, inner).map(lambda t: f"sorted({t[0]}, key=lambda v: {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"any({t[0]} for v in {t[1]})"),
        st.tuples(inner, st.sampled_from(["", ">5", "!r", "!s:<4", ".2f", ",", "05d"])).map(
            lambda t: "f'{" + t[0].replace("'", '"') + (t[1] if t[1].startswith("!") or not t[1] else ":" + t[1]) + "}'"
        ),
    )


_programs = st.recursive(_leaves, _grown, max_leaves=12)


def _plain_python(source: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(source, dict(_VALUES))


def _fails_in_python(source: str) -> bool:
    try:
        _plain_python(source)
    except Exception:  # noqa: BLE001  # whatever it is, it fails
        return True
    return False


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and (left == right or repr(left) == repr(right))


@given(source=_programs)
@settings(max_examples=1_500)
@pytest.mark.slow
def test_what_is_let_through_gives_what_python_gives(place: PlaceMaker, source: str) -> None:
    here = place(dict(_VALUES))
    try:
        found = here.evaluate("python", source)
    except (ExpressionRefused, ExpressionSyntax, ExpressionLimit):
        assume(False)
    except ExpressionFailed as failure:
        # What fails here fails there too, unless the sandbox lacks it on purpose.
        assert _fails_in_python(source) or _is_stricter(str(failure)), failure
        return
    assert _same(found, _plain_python(source))


_STRICTER = (
    "has no method", "is not possible", "sum() adds numbers", "takes no format", "complex number", "is not a valid format",
    "takes a number", "is not a collection", "is not iterable", "works on text", "there is no", "does not support", "it takes",
)  # fmt: skip


def _is_stricter(message: str) -> bool:
    return any(words in message for words in _STRICTER)


_dirty_words = st.sampled_from(
    ["__class__", "__mro__", "__subclasses__", "__globals__", "__builtins__", "__import__", "gi_frame", "f_back", "mro",
     "format", "x", "s", "items", "record", "v", "eval", "getattr", "type", "object", "lambda", "lambda v:", "for", "in",
     "if", "else", "yield", "await", ":=", "*", "**", ".", ",", "(", ")", "[", "]", "{", "}", "'", '"', "f'", "{x!r}",
     "10", "9**9", "1e308", "+", "-", "%", "<<", "=", ":", "not", "is", "None", "S", "B", "g_add", "f_len", "v_v", "t1",
     "instance", "inputs", "variables", "outputs", "set_outcome", "return", "while", "True", "\n", ";", "@", "...", "1j"]
)  # fmt: skip


@given(words=st.lists(_dirty_words, max_size=25), glue=st.sampled_from(["", " "]))
@settings(max_examples=3_000)
@pytest.mark.slow
def test_rubbish_is_refused_or_gives_data(place: PlaceMaker, words: list[str], glue: str) -> None:
    here = place(dict(_VALUES))
    source = glue.join(words)
    for is_script in (False, True):
        try:
            value = here.run("python", source).value if is_script else here.evaluate("python", source)
        except ExpressionError:
            continue
        assert isinstance(value, _DATA)


@given(source=st.text(max_size=60))
@settings(max_examples=500)
def test_any_text_ends_in_data_or_in_an_error_of_ours(place: PlaceMaker, source: str) -> None:
    here = place(dict(_VALUES))
    for language in ("python", "javascript", "liquid"):
        try:
            value = here.evaluate(language, source)
        except ExpressionError:
            continue
        assert isinstance(value, _DATA)
