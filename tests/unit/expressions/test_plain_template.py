"""Plain templates give the same text as the template library, or are left to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.expressions.isolation.inline import Inline
from holdfast.expressions.isolation.requests import Answer, Request
from holdfast.expressions.liquid import LiquidEvaluator, evaluator as module
from holdfast.expressions.liquid.plain_template import plain_parts

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import PlaceMaker

VALUES: dict[str, Any] = {
    "text": "Kim <b>",
    "number": 3,
    "negative": -12,
    "big": 2**70,
    "real": 1.5,
    "yes": True,
    "no": False,
    "nothing": None,
    "items": [1, 2],
    "order": {"id": "4711", "line": {"price": 3, "tags": ["a"]}},
}
PLAIN = [
    "no names",
    "a { b } c",
    "{",
    "}} {",
    "Dear {{ Variables.text }}!",
    "{{Variables.number}}{{Variables.negative}}",
    "{{ Variables.yes }} {{ Variables.no }} [{{ Variables.nothing }}] [{{ Variables.missing }}]",
    "{{ Variables.order.id }} {{ Variables.order.line.price }} [{{ Variables.order.none }}] [{{ Variables.order.none.none }}]",
    "{{ Variables.real }} {{ Variables.big }} {{ Variables.items }} {{ Variables.order }}",
    "{{ Variables.text.length }} [{{ Variables.number.x }}]",
    "{{ Input.given }} {{ Input.text }}",
]
NOT_PLAIN = [
    "{% if 1 %}x{% endif %}",
    "{{- Variables.text }}",
    "{{ Variables.text -}}",
    "{{ Variables.text | upcase }}",
    "{{ Variables['text'] }}",
    "{{ Variables.items[0] }}",
    "{{ Variables.items.size }}",
    "{{ 'x' }}",
    "{{ CorrelationId }}",
    "{{ Variables }}",
    "{{ }}",
    "{{ Variables.text",
    "{{" + " " * 49_000 + "}}",
]


class Counted:
    """Evaluates in this process, and counts the requests."""

    def __init__(self) -> None:
        self._inline = Inline()
        self.asked = 0

    def ask(self, request: Request) -> Answer:
        self.asked += 1
        return self._inline.ask(request)


@pytest.mark.parametrize("source", PLAIN)
def test_a_plain_template_gives_the_text_of_the_library(
    place: PlaceMaker, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = place(VALUES, {"given": "input"})
    evaluator = LiquidEvaluator(isolation=Inline())
    assert plain_parts(source) is not None
    here_plain = evaluator.compile(source, here.names).evaluate(here.scope)
    monkeypatch.setattr(module, "plain_parts", lambda source: None)
    assert here_plain == evaluator.compile(source, here.names).evaluate(here.scope)


@pytest.mark.parametrize("source", NOT_PLAIN)
def test_everything_else_is_left_to_the_library(source: str) -> None:
    assert plain_parts(source) is None


def test_a_plain_template_of_plain_values_asks_no_other_process(place: PlaceMaker) -> None:
    here, counted = place(VALUES), Counted()
    compiled = LiquidEvaluator(isolation=counted).compile("Dear {{ Variables.order.id }}", here.names)
    assert compiled.evaluate(here.scope) == "Dear 4711"
    assert counted.asked == 0


def test_names_computed_at_run_time_are_supplied(place: PlaceMaker) -> None:
    here, counted = place({"name": "text", "text": "found"}), Counted()
    source = "{% assign key = Variables.name %}{{ Variables[key] }}|{{ Variables[Variables.none] }}"
    compiled = LiquidEvaluator(isolation=counted).compile(source, here.names)
    assert compiled.evaluate(here.scope) == "found|"
