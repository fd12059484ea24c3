"""Check of expressions: language, names and compilation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.errors import ExpressionError, ExpressionRefused, ExpressionSyntax
from holdfast.model.checks.survey import Place, Survey, guess
from holdfast.model.definition import Expression, PortEntry
from holdfast.model.pointers import pointer
from holdfast.model.scope import Names

__all__ = ["check_expressions"]

_ALWAYS_THERE = frozenset({"literal", "variable", "input"})


def check_expressions(survey: Survey, place: Place) -> None:
    for expression, path, names in _expressions_of(place):
        language = expression.language
        if language == "code" and not survey.trusted:
            survey.error(
                path,
                "code-not-allowed",
                "'$code' is trusted Python and can only come from a workflow function of the running process.",
                'Write {"$python": "…"}, which is sandboxed.',
            )
        elif language in ("variable", "input"):
            _check_name(survey, place, expression, path, names)
        elif language not in ("literal", "code") and survey.languages is not None:
            _check_compiles(survey, place, expression, path, names)


def _expressions_of(place: Place) -> Iterator[tuple[Expression, str, Names]]:
    # An activity may evaluate an input itself, with its own variables in scope.
    for name, value in place.node.inputs.items():
        if isinstance(value, Expression):
            yield value, pointer(place.path, "inputs", name), place.inner
    for port, items in place.node.ports.items():
        for index, item in enumerate(items if isinstance(items, tuple) else ()):
            if isinstance(item, PortEntry):
                for name, value in item.data.items():
                    if isinstance(value, Expression):
                        yield value, pointer(place.path, port, index, name), place.inner


def _check_name(survey: Survey, place: Place, expression: Expression, path: str, names: Names) -> None:
    source: Any = expression.source
    if not isinstance(source, str):
        survey.error(path, "invalid-expression", f"'${expression.language}' takes a name.", "Write the name as text.")
        return
    if not place.certain:
        return
    if expression.language == "variable" and names.variable(source) is None and names.target(source) is None:
        survey.error(
            path,
            "unknown-variable",
            f"There is no variable '{source}' in scope.",
            f"Declare it on the workflow or on a container around the activity. {guess(source, names.visible())}",
        )
    if expression.language == "input" and names.input(source) is None:
        declared = [item.name for item in survey.definition.inputs]
        survey.error(path, "unknown-input", f"The workflow has no input '{source}'.", guess(source, declared))


def _check_compiles(survey: Survey, place: Place, expression: Expression, path: str, names: Names) -> None:
    languages = survey.languages or {}
    language = languages.get(expression.language)
    if language is None:
        known = [f"${name}" for name in {*languages, *_ALWAYS_THERE}]
        survey.error(
            path,
            "unknown-language",
            f"There is no expression language '${expression.language}'.",
            f"{guess(f'${expression.language}', known)} Plugins can register others.",
        )
        return
    if not place.certain:
        return
    try:
        language.compile(expression.source, names)
    except ExpressionSyntax as error:
        survey.error(path, "expression-syntax", str(error), "Correct the expression.")
    except ExpressionRefused as error:
        survey.error(path, "expression-refused", str(error), "Use only what the sandbox allows.")
    except ExpressionError as error:
        survey.error(path, "invalid-expression", str(error), "Correct the expression.")
