"""`with` statements around an await: the manager is stored as a value, and `try` implements the rest."""

from __future__ import annotations

import ast

from holdfast.authoring.compiler.blocks import located
from holdfast.authoring.compiler.unit import Unit
from holdfast.authoring.compiler.walk import nodes_of

_EXC_INFO = "__holdfast_exc_info"

_TEXT = """
{manager} = 0
{value} = {manager}.__enter__()
{well} = True
try:
    try:
        0
    except BaseException:
        {well} = False
        if not {manager}.__exit__(*{exc_info}()):
            raise
finally:
    if {well}:
        {manager}.__exit__(None, None, None)
"""


def managed(unit: Unit, node: ast.With) -> list[ast.stmt]:
    """The statement written out. The context manager must be data (a dataclass), because it is stored across the await."""
    unit.helpers[_EXC_INFO] = {"of": "sys:exc_info"}
    names = {name: unit.temporary() for name in ("manager", "value", "well")}
    made = ast.parse(_TEXT.format(exc_info=_EXC_INFO, **names))
    for inner in nodes_of(made):
        if hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    first, enter, well, attempt = made.body
    assert isinstance(first, ast.Assign)
    assert isinstance(attempt, ast.Try)
    assert isinstance(attempt.body[0], ast.Try)
    item, rest = node.items[0], node.items[1:]
    first.value = item.context_expr
    body: list[ast.stmt] = [located(ast.With(rest, node.body), node)] if rest else list(node.body)
    if item.optional_vars is not None:
        body.insert(0, located(ast.Assign([item.optional_vars], unit.load(names["value"], node)), node))
    attempt.body[0].body = body
    return [first, enter, well, attempt]
