"""Await-free statements and expressions as text with line numbers."""

from __future__ import annotations

import ast
from typing import Any

from holdfast.authoring.compiler.refusals import Place
from holdfast.authoring.compiler.walk import children_of, nodes_of

LOOPS = (ast.For, ast.While, ast.AsyncFor)
_NO_FLOW = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def located(new: Any, old: ast.AST) -> Any:
    """Copy the source position of `old` to generated nodes."""
    for node in nodes_of(new):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, old)
    return new


def has_await(node: Any) -> bool:
    """Whether a descendant awaits. Cached on the node, because it is queried often."""
    if isinstance(node, list | tuple):
        return any(has_await(item) for item in node)
    if node is None:
        return False
    known = getattr(node, "_awaits", None)
    if known is None:
        own = isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)
        known = own or any(has_await(child) for child in children_of(node))
        node._awaits = known
    return bool(known)


def escapes(node: ast.AST, in_loop: bool = False) -> bool:
    """Whether it contains a return, or a break or continue of an enclosing loop."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, _NO_FLOW):
        return False
    for name, value in ast.iter_fields(node):
        inner = in_loop or (isinstance(node, LOOPS) and name == "body")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case) and escapes(child, inner):
                return True
    return False


class Completions(ast.NodeTransformer):
    """Rewrites `return v` in a block to `return ("return", v)`, and break and continue of an enclosing loop likewise."""

    def __init__(self) -> None:
        self.depth = 0

    def visit_Return(self, node: ast.Return) -> Any:
        value = node.value or ast.Constant(None)
        return located(ast.Return(ast.Tuple([ast.Constant("return"), value], ast.Load())), node)

    def _jump(self, node: ast.stmt, kind: str) -> Any:
        if self.depth:
            return node
        return located(ast.Return(ast.Tuple([ast.Constant(kind), ast.Constant(None)], ast.Load())), node)

    def visit_Break(self, node: ast.Break) -> Any:
        return self._jump(node, "break")

    def visit_Continue(self, node: ast.Continue) -> Any:
        return self._jump(node, "continue")

    def _loop(self, node: Any) -> Any:
        self.depth += 1
        node.body = [self.visit(item) for item in node.body]
        self.depth -= 1
        node.orelse = [self.visit(item) for item in node.orelse]
        return node

    visit_For = visit_While = _loop  # noqa: N815 # names required by NodeTransformer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Annotations of locals are never evaluated."""
        if node.value is None:
            return located(ast.Pass(), node)
        return located(ast.Assign([node.target], node.value), node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


def text_of(body: list[ast.stmt], place: Place) -> tuple[str, list[list[int]], list[ast.AST]]:
    """Source text, line numbers of its nodes in walking order (run-length encoded), and the nodes."""
    module = ast.Module(body=body, type_ignores=[])
    nodes = nodes_of(module)
    if any(not hasattr(node, "lineno") for node in nodes if node._attributes):
        ast.fix_missing_locations(module)
    text = ast.unparse(module)
    lines: list[list[int]] = []
    for node in nodes:
        line = getattr(node, "lineno", None)
        if line is None:
            continue
        if lines and lines[-1][0] == line + place.offset:
            lines[-1][1] += 1
        else:
            lines.append([line + place.offset, 1])
    kinds = [type(node) for node in nodes]
    # Only f-strings may parse to a different tree.
    if ast.JoinedStr in kinds and [type(node) for node in ast.walk(ast.parse(text))] != kinds:
        place.refuse(
            "unparse",
            body[0],
            "This statement cannot be converted back to source text.",
            "Split it into two statements.",
        )
    return text, lines, nodes
