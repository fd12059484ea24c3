"""`$python`: Python expressions, always sandboxed, compiled to native code.

Text → syntax tree → allow-list and guards (`calls`, `statements`) → a function of the scope. For security reviews:
`rewrite` decides what exists, `guards` is everything that generated code can reach, `budget` limits it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionRefused, ExpressionSyntax
from holdfast.expressions import budget as bounds
from holdfast.expressions.budget import Budget, OutOfBounds, weigh
from holdfast.expressions.compiled_cache import CompiledCache
from holdfast.expressions.failure import failed, out_of_bounds, quoted
from holdfast.expressions.python.calls import CallRewriter
from holdfast.expressions.python.guards import GUARDS
from holdfast.expressions.python.names import Places
from holdfast.expressions.python.rewrite import ColdBudget
from holdfast.expressions.python.statements import ScriptRewriter
from holdfast.model.scope import Names, Scope, write
from holdfast.ports import CompiledExpression, CompiledScript, ScriptResult

_LOOPS = (ast.For, ast.While, ast.comprehension, ast.Lambda)
_UNSHARED = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Call)


class PythonEvaluator:
    language = "python"

    def __init__(self, *, fuel: int = bounds.DEFAULT_FUEL) -> None:
        self.fuel = fuel
        """Maximum steps of one evaluation; see `budget`."""
        self._cache = CompiledCache()

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        text = _checked_text(source, bounds.MAX_SOURCE)
        return self._cache.compiled((text, self.fuel), names, partial(self._compile, text))

    def _compile(self, text: str, names: Names) -> CompiledExpression:
        tree = _parsed(text.strip(), "eval", bounds.MAX_NODES)
        assert isinstance(tree, ast.Expression)
        rewriter = CallRewriter(text, Places(names))
        code = _within_stack(text, lambda: _returning(rewriter, tree.body))
        body = [_guarded(code)] if _inlines_budget(code, self.fuel) else [_fuel(self.fuel), _guarded(code)]
        evaluate = _function("evaluate", ["S"], body, text)
        constant = not rewriter.places.reads and not any(isinstance(node, _UNSHARED) for node in ast.walk(tree))
        return CompiledExpression(evaluate, tuple(rewriter.places.reads.items()), constant, waits=rewriter.shares)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        text = _checked_text(source, bounds.MAX_SCRIPT_SOURCE)
        tree = _parsed(text, "exec", bounds.MAX_SCRIPT_NODES)
        assert isinstance(tree, ast.Module)
        rewriter = ScriptRewriter(text, Places(names), script=True)
        body = _within_stack(text, lambda: rewriter.body(tree.body))
        function = _function("script", ["S", "B", "O", "R"], [_guarded(body)], text)
        runner = _runner(function, self.fuel, tuple(rewriter.assigned), text)
        return CompiledScript(runner, waits=any(isinstance(node, _LOOPS) for node in ast.walk(tree)))


# -- parsing -----------------------------------------------------------------------------------------------------------


def _checked_text(source: Any, longest: int) -> str:
    if not isinstance(source, str):
        raise ExpressionSyntax("a $python expression is a text", language="python", source=str(source)[:200])
    if len(source) > longest:
        raise ExpressionRefused(
            f"{quoted(source)} has {len(source):,} characters; at most {longest:,} are allowed.",
            language="python",
            source=source,
        )
    return source


def _parsed(text: str, mode: str, most_nodes: int) -> ast.AST:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, "<$python>", mode)
    except (SyntaxError, ValueError) as error:
        message = getattr(error, "msg", None) or str(error)
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and (error.lineno or 1) > 1 else ""
        raise ExpressionSyntax(
            f"{quoted(text)} is not Python: {message}{line}.", language="python", source=text
        ) from None
    except (MemoryError, RecursionError):
        raise _too_big(text) from None
    _check_size(tree, text, most_nodes)
    return tree


def _check_size(tree: ast.AST, text: str, most_nodes: int) -> None:
    """Check the size of the tree before any recursive function walks it."""
    level: list[ast.AST] = [tree]
    count, depth = 0, 0
    while level:
        count += len(level)
        depth += 1
        if count > most_nodes or depth > bounds.MAX_DEPTH:
            raise _too_big(text)
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _too_big(text: str) -> ExpressionRefused:
    return ExpressionRefused(
        f"{quoted(text)} is too long or nested too deeply; split it into several variables.",
        language="python",
        source=text,
    )


def _within_stack(text: str, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except RecursionError:
        raise _too_big(text) from None


# -- code generation ---------------------------------------------------------------------------------------------------


def _returning(rewriter: CallRewriter, body: ast.expr) -> list[ast.stmt]:
    made = rewriter.expr(body)
    if rewriter.shares:
        made = ast.Call(ast.Name("g_weigh", ast.Load()), [ast.Name("B", ast.Load()), made], [])
    return [ast.Return(made)]


def _fuel(fuel: int) -> ast.stmt:
    return ast.Assign([ast.Name("B", ast.Store())], _budget(fuel))


def _budget(fuel: int) -> ast.expr:
    return ast.List([ast.Constant(part) for part in bounds.new_budget(fuel)], ast.Load())


_INLINED_BUDGETS = 4


def _inlines_budget(code: list[ast.stmt], fuel: int) -> bool:
    """Let each cold branch create its own budget if only a few of them need one.

    Number arithmetic then pays nothing for it.
    """
    budgets = [node for part in code for node in ast.walk(part) if isinstance(node, ast.Name) and node.id == "B"]
    if len(budgets) > _INLINED_BUDGETS or not all(isinstance(node, ColdBudget) for node in budgets):
        return False
    for part in code:
        _OwnBudget(fuel).visit(part)
    return True


class _OwnBudget(ast.NodeTransformer):
    def __init__(self, fuel: int) -> None:
        self._fuel = fuel

    def visit_ColdBudget(self, node: ColdBudget) -> ast.expr:
        return ast.copy_location(_budget(self._fuel), node)


def _guarded(body: list[ast.stmt]) -> ast.stmt:
    """`try: … except Trouble as error: raise fail(error) from error`."""
    error = ast.Name("error", ast.Load())
    raised = ast.Raise(ast.Call(ast.Name("fail", ast.Load()), [error], []), error)
    return ast.Try(body, [ast.ExceptHandler(ast.Name("Trouble", ast.Load()), "error", [raised])], [], [])


def _function(name: str, parameters: list[str], body: list[ast.stmt], text: str) -> Callable[..., Any]:
    arguments = ast.arguments([], [ast.arg(parameter) for parameter in parameters], None, [], [], None, [])
    module = ast.parse(f"def {name}(): pass", "<$python>")
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.args, function.body = arguments, body
    ast.fix_missing_locations(module)
    space: dict[str, Any] = {**GUARDS, "fail": lambda error: _failure(text, error)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = _within_stack(text, lambda: compile(module, "<$python>", "exec", dont_inherit=True))
        except (
            SyntaxError
        ) as error:  # A few rules are checked only here: `break` outside of a loop, a repeated keyword.
            raise ExpressionSyntax(
                f"{quoted(text)} is not Python: {error.msg}.", language="python", source=text
            ) from None
    exec(code, space)  # noqa: S102  # only code that the rewriter allowed; it can reach nothing but guards
    made: Callable[..., Any] = space[name]
    return made


def _failure(text: str, error: BaseException) -> ExpressionError:
    if isinstance(error, OutOfBounds):
        return out_of_bounds("python", text, str(error))
    if isinstance(error, UnboundLocalError):
        name = str(getattr(error, "name", None) or str(error).split("'")[1]).removeprefix("v_")
        message = f"{quoted(text)} failed: '{name}' is read before it is assigned"
        return ExpressionFailed(message, language="python", source=text)
    return failed("python", text, error)


# -- script execution --------------------------------------------------------------------------------------------------


def _runner(
    function: Callable[..., Any], fuel: int, assigned: tuple[tuple[int, int], ...], text: str
) -> Callable[[Scope], ScriptResult]:
    def run(scope: Scope) -> ScriptResult:
        budget = bounds.new_budget(fuel)
        outcomes: list[tuple[str, ...]] = []
        before = [(_level(scope, hops), index) for hops, index in assigned]
        values = [level[index] for level, index in before]
        try:
            result = function(scope, budget, {}, outcomes)
            _weigh_all(budget, [result, *(level[index] for level, index in before)], text)
            for level, index in before:
                write(level, index, level[index])
        except BaseException:
            for (level, index), value in zip(before, values, strict=True):
                level[index] = value
            raise
        return ScriptResult(result, outcomes[0] if outcomes else None)

    return run


def _weigh_all(budget: Budget, values: list[Any], text: str) -> None:
    """Values that leave the script must be trees of limited size, because other code walks them."""
    try:
        for value in values:
            weigh(budget, value)
    except OutOfBounds as error:
        raise _failure(text, error) from error


def _level(scope: Scope, hops: int) -> Scope:
    for _ in range(hops):
        scope = scope[0]
    return scope
