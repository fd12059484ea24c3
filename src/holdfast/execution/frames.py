"""Frames of compiled functions, and compilation of their stored source text.

A function written in plain Python is stored as activities that contain source text (`$code`). Each text becomes a
Python function of one argument, the scope. It loads the names it uses from the scope into real locals, and stores
changed names back even if it raises. Unbound names, `del`, lambdas and comprehensions therefore behave as in CPython.
The text is compiled from the definition alone; its globals (`uses`) were bound when the definition was created.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any
from weakref import ReferenceType, ref

from holdfast.errors import ExpressionSyntax, ValueRefused
from holdfast.execution.composite import UNSET
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.heap.traced_text import BOOK, traced
from holdfast.execution.heap.tracked_scope import TrackedScope
from holdfast.model.module_names import current_name, loaded_module
from holdfast.model.scope import Scope, Shape
from holdfast.model.values import TypeRegistry, decode

SCOPE, UNBOUND, WATCH = "__scope", "__unset", "__watch"
"""Reserved names inside generated functions; the compiler refuses them in workflows."""
UNBOUND_ERROR = "__unbound_error"
"""Alias for UnboundLocalError, because a module may use that name for something else."""

RESULT = "~result"
"""Slot of the function's return value."""
LOST = "~lost"
"""Slot that lists variables that could not be stored while the instance was suspended, with the reasons."""

Lines = Sequence[Sequence[int]]
"""Line numbers of a syntax tree's nodes in walking order, run-length encoded: `[[line, times], …]`."""


class FrameShape(Shape):
    """Names of one compiled function: parameters, locals and temporaries, all unbound at first."""

    __slots__ = ("file", "function", "references", "uses", "watched")

    def __init__(
        self,
        key: str,
        *,
        function: str,
        file: str,
        uses: Mapping[str, Mapping[str, Any]],
        types: TypeRegistry | None = None,
    ) -> None:
        """`types` may have classes under names that cannot be imported any more."""
        super().__init__(key)
        self.function = function
        self.file = file
        self.uses = bind(uses, types or TypeRegistry())
        """Globals of the text, by name."""
        self.references = {use["of"]: self.uses[name] for name, use in uses.items() if "of" in use}
        self.watched: list[ReferenceType[Any]] = []
        """Lambdas created by the text that is running."""
        self.uses[WATCH] = self.watch
        self.declare(RESULT)
        self.declare(LOST)

    def watch(self, made: Any) -> Any:
        self.watched.append(ref(made))
        return made

    def declare(self, name: str, type_name: str = "any") -> int:
        return self.names[name] if name in self.names else self.add(self.names, name, type_name, UNSET)


class MissingReference(LookupError):
    """This process cannot import an object that a stored function uses."""


def resolve(reference: str) -> Any:
    """Import `module` or `module:name.name`."""
    stored_name, _, path = reference.partition(":")
    module_name = current_name(stored_name)
    try:
        found: Any = loaded_module(module_name) or import_module(module_name)
        for part in path.split(".") if path else ():
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise MissingReference(reference) from error
    return found


def bind(uses: Mapping[str, Mapping[str, Any]], types: TypeRegistry) -> dict[str, Any]:
    """Globals of a stored function: constants by value, all others imported, or a class that is registered under the name."""
    found: dict[str, Any] = {
        "__builtins__": builtins,
        "__name__": "holdfast.code",
        UNBOUND: UNSET,
        UNBOUND_ERROR: UnboundLocalError,
    }
    for name, use in uses.items():
        found[name] = _used(use["of"], types) if "of" in use else decode(use["value"])
    return found


def _used(reference: str, types: TypeRegistry) -> Any:
    try:
        return resolve(reference)
    except MissingReference:
        registered = types.find(reference)
        if registered is None:
            raise
        return registered


# -- compilation -------------------------------------------------------------------------------------------------------


def make_function(
    source: str, shape: FrameShape, lines: Lines | None = None, *, statements: bool = False
) -> Callable[[Scope], Any]:
    """Compile text to a function of a scope. An expression returns its value, statements return their `return` value."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ExpressionSyntax(str(error), language="code", source=source) from error
    if lines:
        _place(tree, lines)
    watched = _watch_lambdas(tree, shape)
    only = tree.body[0] if len(tree.body) == 1 and not statements else None
    if isinstance(only, ast.Expr):
        tree.body = [ast.copy_location(ast.Return(only.value), only)]
    function = _explaining(_tracked(_compiled(tree.body, shape), tree.body, shape), shape.names[LOST])
    return _checked(function, shape) if watched else function


def _tracked(function: Callable[[Scope], Any], body: list[ast.stmt], shape: FrameShape) -> Callable[[Scope], Any]:
    """Report the variables that the text mentions, if its frame refers to large blocks. A text that mentions a block
    itself runs in its traced form, which is compiled when it is first needed."""
    reads, writes = names_in(body)
    slots = [shape.names[name] for name in shape.names if name in reads or name in writes]
    if not slots:
        return function
    made: list[Callable[[Scope, HeapBook], Any]] = []

    def run(scope: Scope) -> Any:
        if scope.__class__ is not TrackedScope:
            return function(scope)
        if not scope.mention_all(slots):
            return function(scope)
        if not made:
            hidden = shape.names.keys() | shape.uses.keys()
            made.append(_compiled(traced(body, shape.names, hidden), shape, BOOK))
        return made[0](scope, scope.book)

    return run


def _explaining(function: Callable[[Scope], Any], slot: int) -> Callable[[Scope], Any]:
    """For a name that is unbound because its value could not be stored, raise an error that says so."""

    def run(scope: Scope) -> Any:
        try:
            return function(scope)
        except UnboundLocalError as error:
            lost, name = scope[slot], str(error).partition("'")[2].partition("'")[0]
            if lost is UNSET or name not in lost:
                raise
            raise ValueRefused(name, "value", remedy=f"It could not be stored across an await: {lost[name]}.") from None

    return run


def _watch_lambdas(tree: ast.Module, shape: FrameShape) -> bool:
    """Mark lambdas that capture locals. Each text has its own locals, so such lambdas must not outlive it."""
    marker = _Marker(shape)
    marker.visit(tree)
    return marker.found


class _Marker(ast.NodeTransformer):
    def __init__(self, shape: FrameShape) -> None:
        self.shape = shape
        self.found = False

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:  # name required by NodeTransformer
        self.generic_visit(node)
        if not any(isinstance(item, ast.Name) and item.id in self.shape.names for item in ast.walk(node.body)):
            return node
        self.found = True
        marked = ast.Call(ast.Name(WATCH, ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(marked, node))


def _checked(function: Callable[[Scope], Any], shape: FrameShape) -> Callable[[Scope], Any]:
    def run(scope: Scope) -> Any:
        watched = shape.watched
        watched.clear()
        found = function(scope)
        if any(item() is not None for item in watched):
            raise ValueRefused(
                "lambda",
                "function",
                remedy="It captures locals and outlives its statement. Define a function at module level.",
            )
        return found

    return run


NO_COLUMN = -1
"""Columns are not stored. Without them a traceback shows only the line, without misplaced carets."""

_PLACED = (ast.expr, ast.stmt, ast.excepthandler, ast.pattern, ast.arg, ast.keyword, ast.alias)
"""Node types that have a source position."""


def _place(tree: ast.Module, lines: Lines) -> None:
    numbers = iter([line for line, times in lines for _ in range(times)])
    for node in ast.walk(tree):
        if isinstance(node, _PLACED):
            node.lineno = node.end_lineno = next(numbers, 1)
            node.col_offset = node.end_col_offset = NO_COLUMN


def _compiled(body: list[ast.stmt], shape: FrameShape, *more: str) -> Callable[..., Any]:
    """A function of a scope, and of more arguments with these names."""
    reads, writes = names_in(body)
    known, first = shape.names, body[0]
    at: dict[str, Any] = {"lineno": first.lineno, "end_lineno": first.lineno}
    at["col_offset"] = at["end_col_offset"] = NO_COLUMN
    before = [item for name in known if name in reads or name in writes for item in _take(name, known[name], at)]
    after = [_keep(name, known[name], at) for name in known if name in writes]
    if after:
        body = [ast.Try(body=body, handlers=[], orelse=[], finalbody=after, **at)]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(name, **at) for name in (SCOPE, *more)],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    name = shape.function or "branch"
    function = ast.FunctionDef(name=name, args=arguments, body=[*before, *body], decorator_list=[], **at)
    if sys.version_info >= (3, 12):
        function.type_params = []
    made = compile(ast.Module(body=[function], type_ignores=[]), shape.file, "exec")
    code = next(item for item in made.co_consts if isinstance(item, CodeType))
    return FunctionType(code, shape.uses, name)


def _take(name: str, index: int, at: dict[str, Any]) -> list[ast.stmt]:
    """`name = scope[index]`; leaves the name unbound if the slot is unset."""
    unbound = ast.Compare(_load(name, at), [ast.Is()], [_load(UNBOUND, at)], **at)
    return [
        ast.Assign([ast.Name(name, ast.Store(), **at)], _slot(index, ast.Load(), at), **at),
        ast.If(unbound, [ast.Delete([ast.Name(name, ast.Del(), **at)], **at)], [], **at),
    ]


def _keep(name: str, index: int, at: dict[str, Any]) -> ast.stmt:
    """`scope[index] = name`; marks the slot as unset if the name is unbound."""
    put = ast.Assign([_slot(index, ast.Store(), at)], _load(name, at), **at)
    leave = ast.Assign([_slot(index, ast.Store(), at)], _load(UNBOUND, at), **at)
    handler = ast.ExceptHandler(_load(UNBOUND_ERROR, at), None, [leave], **at)
    return ast.Try(body=[put], handlers=[handler], orelse=[], finalbody=[], **at)


def _load(name: str, at: dict[str, Any]) -> ast.expr:
    return ast.Name(name, ast.Load(), **at)


def _slot(index: int, context: ast.expr_context, at: dict[str, Any]) -> ast.expr:
    return ast.Subscript(_load(SCOPE, at), ast.Constant(index, **at), context, **at)


def names_in(body: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """Names that the statements read, and names that they bind or unbind."""
    reads: set[str] = set()
    writes: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
            else:
                writes.update(bound_by(node))
    return reads, writes


def bound_by(node: ast.AST) -> Iterator[str]:
    """Names that a node binds without a Name node."""
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0]
