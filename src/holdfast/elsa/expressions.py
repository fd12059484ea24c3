"""Conversion of expressions: `{"type": "JavaScript", "value": "…"}` in Elsa, `Expression("javascript", "…")` here.

Holdfast does not run C#. Trivial forms of C# are translated to another language; everything else is kept unchanged and
reported.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.elsa.names import Declared
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json
from holdfast.elsa.types import ElsaType, from_literal, to_json
from holdfast.model.definition import Expression

LANGUAGES: Mapping[str, str] = {
    "JavaScript": "javascript",
    "Liquid": "liquid",
    "Python": "python",
    "CSharp": "csharp",
    "Object": "object",
    "Variable": "variable",
    "Input": "input",
    "Literal": "literal",
    "Secret": "secret",
    "Sql": "sql",
}
_ELSAS = {ours: elsa for elsa, ours in LANGUAGES.items()}


# -- import ------------------------------------------------------------------------------------------------------------


def read_expression(raw: Mapping[str, Any], wanted: ElsaType, names: Declared, reports: Reports, path: str) -> Any:
    """A literal value or an `Expression`."""
    language, value = str(raw.get("type") or "Literal"), raw.get("value")
    if language == "Literal":
        return _literal(value, wanted, reports, path)
    if language in ("Object", "Json"):
        return _object(value)
    if language == "Variable":
        return Expression("variable", _variable(value, names))
    if language == "Input":
        return Expression("input", _named(value))
    if language == "Python":
        return _python(str(value or ""), reports, path)
    if language == "CSharp":
        return _csharp(str(value or ""), names, reports, path)
    if language in ("JavaScript", "Liquid"):
        return Expression(LANGUAGES[language], str(value) if value is not None else "")
    reports.error(
        path,
        "unsupported-language",
        f"Holdfast cannot evaluate expressions of type '{language}'.",
        "It is kept. Rewrite it in JavaScript, Liquid or Python, or register an evaluator.",
    )
    return Expression(LANGUAGES.get(language, language), value)


def _literal(value: Any, wanted: ElsaType, reports: Reports, path: str) -> Any:
    try:
        return from_literal(value, wanted)
    except ValueError as error:
        reports.warning(
            path,
            "bad-literal",
            f"The literal {value!r} is not of type {wanted.name}: {error}",
            "It is kept unchanged. Correct the text or the type.",
        )
        return value


def _object(value: Any) -> Any:
    if isinstance(value, str):
        return Expression("object", value) if value.strip() else None
    return value


def _variable(value: Any, names: Declared) -> str:
    fields = _fields(value)
    for key in ("id", "name"):
        found = names.reference(str(fields.get(key))) if fields.get(key) else None
        if found is not None:
            return found
    return str(fields.get("name") or fields.get("id") or "")


def _named(value: Any) -> str:
    return str(_fields(value).get("name") or "")


def _fields(value: Any) -> Mapping[str, Any]:
    """A reference as an object, as JSON text of an object, or as a bare id."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return {"name": value}
    if isinstance(value, Mapping):
        return {key[:1].lower() + key[1:]: item for key, item in value.items()}
    return {"id": value, "name": value}


def _python(source: str, reports: Reports, path: str) -> Expression:
    """Elsa runs Python as a function body.

    A single expression, with or without `return`, becomes a Holdfast expression.
    """
    text = source.strip().removeprefix("return ").rstrip(";").strip()
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        reports.warning(
            path,
            "python-script",
            "This Python code has several statements, but an input must be a single expression.",
            "Move it to a RunScript activity, or rewrite it as one expression.",
        )
        return Expression("python", source)
    return Expression("python", text)


_HOLE = re.compile(r"\{(?P<side>Variable|Input)s?\.(?P<name>\w+)\}")


def _getter(side: str, name: str) -> str:
    return f"get{side}({json.dumps(name)})"


def _filled(hole: re.Match[str]) -> str:
    return f"${{{_getter(hole['side'], hole['name'])}}}"


_STATEMENT = re.compile(r"^\s*(?:return\s+)?(?P<body>.*?)\s*;?\s*$", re.DOTALL)
_CSHARP: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Declared], Any]], ...] = (
    (
        re.compile(r'^Variables?\.(?:Get(?:<[^>]*>)?\("(?P<quoted>[^"\\]+)"\)|(?P<name>\w+))$'),
        lambda match, names: Expression("variable", _declared(match["quoted"] or match["name"], names)),
    ),
    (
        re.compile(r'^Inputs?\.(?:Get(?:<[^>]*>)?\("(?P<quoted>[^"\\]+)"\)|(?P<name>\w+))$'),
        lambda match, names: Expression("input", match["quoted"] or match["name"]),
    ),
    (
        re.compile(r'^Outputs?\.From(?:<[^>]*>)?\("(?P<activity>[^"\\]+)"(?:\s*,\s*"(?P<output>[^"\\]+)")?\)$'),
        lambda match, names: Expression("javascript", _output_call(match["activity"], match["output"])),
    ),
    (
        re.compile(r"^(?P<side>Variable|Input)s?\.(?P<name>\w+)\.ToString\(\)$"),
        lambda match, names: Expression("javascript", f"String({_getter(match['side'], match['name'])})"),
    ),
    (
        re.compile(r'^\$"(?P<text>(?:[^"\\`$:{}]|\{(?:Variable|Input)s?\.\w+\})*)"$'),
        lambda match, names: Expression("javascript", f"`{_HOLE.sub(_filled, match['text'])}`"),
    ),
    (re.compile(r"^Outputs?\.LastResult$"), lambda match, names: Expression("javascript", "getLastResult()")),
    (re.compile(r"^CorrelationId$"), lambda match, names: Expression("javascript", "getCorrelationId()")),
    (re.compile(r"^WorkflowInstanceId$"), lambda match, names: Expression("javascript", "getWorkflowInstanceId()")),
    (re.compile(r'^"(?P<text>[^"\\]*)"$'), lambda match, names: match["text"]),
    (re.compile(r"^-?\d+$"), lambda match, names: int(match[0])),
    (re.compile(r"^(?:true|false)$"), lambda match, names: match[0] == "true"),
    (re.compile(r"^null$"), lambda match, names: None),
)


def _csharp(source: str, names: Declared, reports: Reports, path: str) -> Any:
    statement = _STATEMENT.match(source)
    body = statement["body"] if statement else source
    for pattern, translate in _CSHARP:
        match = pattern.match(body)
        if match:
            return translate(match, names)
    reports.error(
        path,
        "csharp",
        f"The C# expression '{_shortened(source)}' cannot be converted.",
        "It is kept. Rewrite it in JavaScript, Liquid or Python.",
    )
    return Expression("csharp", source)


def csharp_as_script(source: str, names: Declared) -> str | None:
    """JavaScript for a trivial C# script; None if the script is not trivial."""
    reports = Reports()
    value = _csharp(source, names, reports, "")
    if reports.problems:
        return None
    if not isinstance(value, Expression):
        return f"return {json.dumps(value)};"
    return f"return {value.source if value.language == 'javascript' else _getter(value.language.capitalize(), value.source)};"


def _declared(name: str, names: Declared) -> str:
    return names.reference(name) or name


def _output_call(activity: str, output: str | None) -> str:
    arguments = [activity] if output is None else [activity, output]
    return f"getOutputFrom({', '.join(json.dumps(argument) for argument in arguments)})"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


# -- export ------------------------------------------------------------------------------------------------------------


def write_expression(value: Any, names: Declared, reports: Reports, path: str) -> Json:
    if not isinstance(value, Expression):
        return _written_literal(value)
    if value.language == "literal":
        return _written_literal(value.source)
    if value.language == "variable":
        return {"type": "Variable", "value": names.described(str(value.source))}
    if value.language == "input":
        return {"type": "Input", "value": {"name": value.source}}
    if value.language not in _ELSAS:
        reports.error(
            path,
            "unsupported-language",
            f"Elsa has no expression language '{value.language}'.",
            "It is written unchanged and restored on re-import. In Elsa its evaluation fails.",
        )
    elif value.language == "python":
        reports.warning(
            path,
            "python-expression",
            "Elsa reads variables as `variables.Name` and refuses Python unless its host allows it.",
            "Rewrite the expression in JavaScript or Liquid if the workflow must run in Elsa.",
        )
    return {"type": _ELSAS.get(value.language, value.language), "value": value.source}


def _written_literal(value: Any) -> Json:
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return {"type": "Object", "value": json.dumps(to_json(value), ensure_ascii=False)}
    return {"type": "Literal", "value": to_json(value)}
