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
            self.reports.append((kind, *key))
            return key[0] if key else value

        return report


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("y = x[1]", [("key", 1)]),
        ("x[1] = 2", [("key", 1)]),
        ("x[0] += 1", [("key", 0)]),
        ("del x[1]", [("removed", 1)]),
        ("x.append(3)", [("tail",)]),
        ("x += [3]", [("tail",)]),
        ("m = x.append", []),
        ("x.pop()", [("last",)]),
        ("x.pop(0)", [("removed", 0)]),
        ("y = len(x), 2 in x, x is None, not x", []),
        ("if x: y = 1", []),
        ("y = x", [("whole",)]),
        ("y = x[0:1]", [("whole",)]),
        ("x.sort()", [("whole",)]),
        ("y = [item for item in x]", [("whole",)]),
        ("y = (lambda: x[0])()", [("key", 0)]),
        ("y = sum(x)", [("whole",)]),
    ],
)
def test_a_text_reports_what_it_uses(text: str, reports: list[Any]) -> None:
    book, variables = Book(), {"x": [1, 2]}
    variables[BOOK] = book  # type: ignore[assignment]  # a name of the text like the others
    tree = ast.Module(traced(ast.parse(text).body, {"x", "y", "m"}, ()), [])
    exec(compile(ast.fix_missing_locations(tree), "text", "exec"), variables)
    assert book.reports == reports


def test_a_function_with_the_name_of_a_built_in_one_may_do_anything() -> None:
    book = Book()
    tree = ast.Module(traced(ast.parse("y = len(x)").body, {"x"}, {"len"}), [])
    exec(compile(ast.fix_missing_locations(tree), "text", "exec"), {BOOK: book, "x": []})
    assert book.reports == [("whole",)]
