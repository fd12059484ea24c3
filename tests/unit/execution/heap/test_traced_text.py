"""Traced texts: which uses of a name touch an item, the end, everything or nothing."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from holdfast.execution.heap.traced_text import BOOK, traced


class Book:
    """Records the reports of a text."""

    def __init__(self) -> None:
        self.reports: list[Any] = []

    def __getattr__(self, kind: str) -> Any:
        def report(value: Any, *key: Any) -> Any:
            is_key = kind in ("inner_key", "removed_key")
            self.reports.append((kind, value) if is_key else (kind, *key))
            return key[0] if kind in ("key", "removed") else value

        return report


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("y = x[1]", [("key", 1), ("alias",)]),
        ("x[1] = 2", [("key", 1)]),
        ("x[0] += 1", [("extends", (False, 0)), ("key", 0)]),
        ("del x[1]", [("removed", 1)]),
        ("x.append(3)", [("tail",)]),
        ("x += [3]", [("tail",)]),
        ("m = x.append", [("owner", "append"), ("method",)]),
        ("x.pop()", [("last",), ("whole",)]),
        ("x.pop(0)", [("container",), ("removed_key", 0), ("whole",)]),
        ("y = len(x), 2 in x, x is None, not x", []),
        ("if x: y = 1", []),
        ("y = x", [("alias",)]),
        ("y = (x,)", [("whole",)]),
        ("y = x[0:1]", [("whole",)]),
        ("x.sort()", [("owner", "sort"), ("whole",)]),
        ("y = [item for item in x]", [("whole",)]),
        ("y = (lambda: x[0])()", [("key", 0), ("whole",)]),
        ("y = sum(x)", [("whole",)]),
        ("s['o'].append(3)", [("key", "o"), ("tail",)]),
        ("s['o'][0] = 3", [("key", "o"), ("container",), ("inner_key", 0)]),
        ("del s['o'][0]", [("key", "o"), ("container",), ("removed_key", 0)]),
        ("y = s['o']", [("key", "o"), ("alias",)]),
        ("y = len(s['o']), 2 in s['o'], not s['o']", [("key", "o")] * 3),
        ("if s['o']: y = 1", [("key", "o")]),
        ("y = s['o'][0:1]", [("key", "o"), ("whole",)]),
        ("y = s.get('o')", [("container",), ("inner_key", "o"), ("whole",)]),
        ("s['o'] += [3]", [("extends", (False, "o")), ("key", "o")]),
        ("s['o'][0] += 3", [("extends", (False, "o"), (False, 0)), ("key", "o"), ("container",), ("inner_key", 0)]),
        ("d.real", [("owner", "real"), ("whole",)]),
        ("y = d.real", [("owner", "real"), ("alias",)]),
        (
            "s['o'][s['o'].pop(0) - 1] = 4",
            [
                ("key", "o"),
                ("container",),
                ("key", "o"),
                ("container",),
                ("removed_key", 0),
                ("whole",),
                ("inner_key", 0),
            ],
        ),
    ],
)
def test_a_text_reports_what_it_uses(text: str, reports: list[Any]) -> None:
    book, variables = Book(), {"x": [1, 2], "s": {"o": [1, 2]}, "d": 1}
    variables[BOOK] = book
    tree = ast.Module(traced(ast.parse(text).body, {"x", "y", "m", "s", "d"}, ()), [])
    exec(compile(ast.fix_missing_locations(tree), "text", "exec"), variables)
    assert book.reports == reports


def test_a_function_with_the_name_of_a_built_in_one_may_do_anything() -> None:
    book = Book()
    tree = ast.Module(traced(ast.parse("y = len(x)").body, {"x"}, {"len"}), [])
    exec(compile(ast.fix_missing_locations(tree), "text", "exec"), {BOOK: book, "x": []})
    assert book.reports == [("whole",)]
