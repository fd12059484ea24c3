"""python-liquid with cost limits. Imported only when a template is compiled, because the import is slow.

The library's own limits have gaps: range literals in filters, comparisons and `contains` are not counted, filters have
no limits, and consecutive loops are counted separately. Therefore ranges are capped, every filter is charged for its
input and output, and every loop iteration is charged for the whole template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from liquid import Environment, Mode, RenderContext
from liquid.ast import Node
from liquid.builtin.expressions.primitive import RangeLiteral
from liquid.exceptions import LiquidError, ResourceLimitError
from liquid.expression import Expression
from liquid.template import BoundTemplate

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.expressions.budget import MAX_TEXT, Budget, OutOfBounds, charge
from holdfast.expressions.failure import quoted
from holdfast.expressions.liquid.filters import bounded, own_filters

_RANGE = 10_000
_REMOVED_TAGS = ("include", "render")

_budget: ContextVar[Budget] = ContextVar("holdfast_liquid_budget")
Render = Callable[[dict[str, Any], Budget], str]


class _BoundedRange(RangeLiteral):
    __slots__ = ()

    def _make_range(self, start: Any, stop: Any) -> range:
        made = super()._make_range(start, stop)
        count = made.stop - made.start
        if count > _RANGE:
            raise OutOfBounds(f"a range would have {count:,} items, at most {_RANGE:,} are allowed")
        charge(_budget.get(), count + 1)
        return made


class _Context(RenderContext):
    def raise_for_loop_limit(self, length: int = 1) -> None:
        weight = self.template.weight if isinstance(self.template, _Template) else 1
        charge(_budget.get(), length * weight + 1)

    def get(self, path: list[object], **named: Any) -> object:
        found = super().get(path, **named)
        charge(_budget.get(), (len(found) >> 5) + 1 if isinstance(found, str | list | dict) else 1)
        return found


class _Template(BoundTemplate):
    context_class = _Context
    weight = 1
    """Maximum cost of one loop iteration: the size of the template."""


class _Environment(Environment):
    template_class = _Template
    output_stream_limit = MAX_TEXT
    local_namespace_limit = 4 * MAX_TEXT
    context_depth_limit = 20
    block_nesting_limit = 20


def _made() -> Environment:
    environment = _Environment(tolerance=Mode.STRICT, strict_filters=True)
    for tag in _REMOVED_TAGS:
        environment.tags.pop(tag, None)
    for name, function in {**environment.filters, **own_filters()}.items():
        environment.add_filter(name, bounded(name, function, _budget.get))
    return environment


_environment = _made()


def compiled(source: str) -> Render:
    try:
        template = _environment.from_string(source)
        _check_filters(template, source)
    except RecursionError:
        raise ExpressionRefused(f"{quoted(source)} is nested too deeply.", language="liquid", source=source) from None
    except LiquidError as error:
        raise ExpressionSyntax(
            f"{quoted(source)} is not Liquid: {error.message}.", language="liquid", source=source
        ) from None
    assert isinstance(template, _Template)
    template.weight = max(1, len(source) >> 3)
    for expression in _expressions(template):
        if type(expression) is RangeLiteral:
            expression.__class__ = _BoundedRange
    return lambda model, budget: _rendered(template, model, budget)


def _rendered(template: BoundTemplate, model: dict[str, Any], budget: Budget) -> str:
    token = _budget.set(budget)
    try:
        return template.render(model)
    except ResourceLimitError as limit:
        raise OutOfBounds(str(limit.message)) from limit
    except LiquidError as error:
        raise ValueError(error.message) from error
    finally:
        _budget.reset(token)


def _check_filters(template: BoundTemplate, source: str) -> None:
    """Refuse unknown filters at compile time; python-liquid reports them only when they run."""
    unknown = sorted(set(template.analyze(include_partials=False).filters) - set(_environment.filters))
    if unknown:
        known = ", ".join(sorted(_environment.filters))
        raise ExpressionSyntax(
            f"{quoted(source)} uses the unknown filter '{unknown[0]}'. Filters: {known}.",
            language="liquid",
            source=source,
        )


def _expressions(template: BoundTemplate) -> Iterator[Expression]:
    context = RenderContext(template)
    nodes: list[Node] = list(template.nodes)
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children(context, include_partials=False))
        waiting = list(node.expressions())
        while waiting:
            expression = waiting.pop()
            waiting.extend(expression.children())
            yield expression
