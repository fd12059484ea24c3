"""Cost of one evaluation of a sandboxed expression, in the process and in a child process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS, repeated, run_rounds
from holdfast.expressions import standard_evaluators
from holdfast.model.scope import Names, Shape

SOURCES = {
    "engine.us_python_expression": "x*2+y > 5",
    "engine.us_python_expression.modulo": "x % 2 == 1",
    "engine.us_python_expression.text": '"total " + str(x)',
    "engine.us_python_expression.member": 'order["lines"][0]["price"] * 2',
    "engine.us_python_expression.sum": 'sum(line["price"] for line in order["lines"])',
}

JAVASCRIPT = {
    "engine.us_javascript_expression": "variables.x * 2 + variables.y > 5 && variables.order.id === '4711'",
    "engine.us_javascript_expression.engine": "Math.max(variables.x, variables.y)",
}

FIGURES = (
    Figure("engine.us_python_expression", "µs for the sandboxed expression `x*2+y > 5`", 0.3),
    *(Figure(name, f"µs for `{source}`") for name, source in SOURCES.items() if name != "engine.us_python_expression"),
    Figure("engine.us_javascript_expression", "µs for a simple JavaScript expression, evaluated in the process", 60),
    Figure(
        "engine.us_javascript_expression.engine", "µs for a JavaScript expression in a warm child process, by the wall"
    ),
)


class _Facts:
    """An instance without outputs."""

    id = definition_id = definition_version_id = "bench"
    definition_version = 1
    parent_id = correlation_id = name = last_result = None


def measure(effort: Effort) -> Mapping[str, float]:
    shape = Shape("bench", boundary=True)
    lines = [{"sku": f"sku-{number}", "price": number} for number in range(10)]
    for name, value in {"x": 3, "y": 4, "order": {"id": "4711", "lines": lines}}.items():
        shape.add(shape.names, name, "any", value)
    scope = shape.open(_Facts())
    languages = standard_evaluators()
    contenders = {
        name: repeated(partial(languages[language].compile(source, Names((shape,))).evaluate, scope), times=times)
        for language, sources, times in (("python", SOURCES, 5_000), ("javascript", JAVASCRIPT, 200))
        for name, source in sources.items()
    }
    best = run_rounds(contenders, effort.rounds)
    return {name: seconds * MICROSECONDS for name, seconds in best.items()}


GROUP = Group("expressions", FIGURES, measure)
