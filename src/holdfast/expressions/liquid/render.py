"""Rendering of a template and check of its syntax, as a child process does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.expressions.budget import Budget, OutOfBounds, charge
from holdfast.expressions.failure import message_of
from holdfast.expressions.isolation.requests import Answer, CheckLiquid, RenderLiquid, Verdict, to_bytes, to_text
from holdfast.expressions.liquid import templates

_TEMPLATES_MAX = 64


class _Missing(BaseException):
    """A name whose value was not sent. Not an `Exception`: the template library must not handle it."""


def checked(request: CheckLiquid) -> Answer:
    try:
        _compiled(request.source)
    except ExpressionSyntax as error:
        return Answer(Verdict.SYNTAX, to_bytes(str(error)))
    except ExpressionRefused as error:
        return Answer(Verdict.REFUSED, to_bytes(str(error)))
    return Answer(Verdict.VALUE)


def rendered(request: RenderLiquid) -> Answer:
    """The answer is JSON: `{"text": …}`, or `{"needs": [kind, name]}` for a value that was not sent."""
    given = json.loads(request.given)
    budget = [request.fuel, 0, 0]
    try:
        text = _compiled(request.source)(_model(given, budget), budget)
    except _Missing as missing:
        return Answer(Verdict.VALUE, json.dumps({"needs": missing.args}).encode())
    except OutOfBounds as limit:
        return Answer(Verdict.LIMIT, to_bytes(str(limit)))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 - any error of a template is its answer
        return Answer(Verdict.FAILED, to_bytes(message_of(error)))
    return Answer(Verdict.VALUE, json.dumps({"text": text}).encode())


@lru_cache(_TEMPLATES_MAX)
def _compiled(source: bytes) -> templates.Render:
    return templates.compiled(to_text(source))


def _model(given: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Top-level names of a template."""
    return {
        "Variables": _Lookup("variables", given, budget),
        "Input": _Lookup("inputs", given, budget),
        **given["facts"],
    }


class _Lookup(Mapping[str, Any]):
    """`Variables.X` or `Input.X`."""

    def __init__(self, kind: str, given: Mapping[str, Any], budget: Budget) -> None:
        self._kind = kind
        self._values: dict[str, Any] = given[kind]
        self._absent: list[str] = given["absent"][kind]
        self._budget = budget
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            if name in self._absent or not isinstance(name, str):
                raise KeyError(name)
            if name not in self._values:
                raise _Missing(self._kind, name)
            charge(self._budget, 10)
            self._known[name] = _shown(self._values[name])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Object(dict[str, Any]):
    """An object that renders as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, separators=(",", ":"), ensure_ascii=False)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return _Object({name: _shown(item) for name, item in value.items()})
    return [_shown(item) for item in value] if isinstance(value, list) else value
