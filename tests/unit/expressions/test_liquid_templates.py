"""`$liquid`: Elsa's names and filters, and the bounds that hold."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import Place, PlaceMaker


@dataclass
class Person:
    name: str
    _secret: str = "s"

    def method(self) -> str:
        return "called"


@pytest.fixture
def here(place: PlaceMaker) -> Place:
    variables = {
        "Products": [{"id": 1, "price": 12.99}],
        "price": Decimal("2.5"),
        "when": datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        "person": Person("Ada"),
        "names": ["b", "a"],
        "nothing": None,
    }
    return place(variables, {"Name": "Bob"}, inner="near")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ Variables.Products[0].price | round }}", "13"),
        ("{{ Variables.Products[0] | json }}", '{"id":1,"price":12.99}'),
        ("{{ Variables.Products[0] }}", '{"id":1,"price":12.99}'),
        ("{{ Variables.Products[0] | keys | join: ',' }}", "id,price"),
        ("{{ Variables.inner }} {{ Input.Name }} {{ Input.inner }}", "near Bob near"),
        ("{{ CorrelationId }} {{ WorkflowInstanceId }}", "customer-7 instance-1"),
        (
            "{{ WorkflowDefinitionId }} {{ WorkflowDefinitionVersionId }} {{ WorkflowDefinitionVersion }}",
            "order order-3 3",
        ),
        ("{{ Variables.price | plus: 1 }} {{ Variables.price | times: 2 }}", "3.5 5.0"),
        ("{{ Variables.when | date: '%Y-%m-%d %-H' }}", "2024-02-29 12"),
        ("{{ 0 | date: '%Y' }}", "1970"),
        ("{{ 'no date' | date: '%Y' }}", "no date"),
        ("{{ Variables.person.name }}", "Ada"),
        ("{{ Variables.names | sort | join: '-' }}", "a-b"),
        ("{{ Variables.names | json }}{{ Variables.nope | json }}", '["b","a"]null'),
        ("{{ 'hé' | base64 }}", "aMOp"),
        ("{{ Variables.nothing | default: 'none' }}", "none"),
        ("{% for p in Variables.Products %}{{ p.id }};{% endfor %}", "1;"),
        ("{% for i in (1..3) %}{{ i }}{% endfor %}", "123"),
        ("{% assign x = 5 %}{% if x > 3 %}big{% else %}small{% endif %}", "big"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{{ true }} {{ Variables.nope }}|{{ nope.a.b }}", "true |"),
        ("plain", "plain"),
    ],
)
def test_renders(here: Place, template: str, text: str) -> None:
    assert here.evaluate("liquid", template) == text


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_template_is_none(here: Place, blank: str) -> None:
    assert here.evaluate("liquid", blank) is None


@pytest.mark.parametrize("template", ["{{ x", "{% if %}", "{% nosuch %}", "{{ 1 | nosuch }}", "{% for %}", "{% include 'a' %}",
                                      "{% render 'a' %}", 5])  # fmt: skip
def test_what_is_no_liquid_is_known_when_compiled(here: Place, template: str) -> None:
    from holdfast.expressions.liquid import LiquidEvaluator

    with pytest.raises(ExpressionSyntax):
        LiquidEvaluator().compile(template, here.names)


def test_liquid_has_no_scripts(here: Place) -> None:
    with pytest.raises(ExpressionRefused, match="no scripts"):
        here.run("liquid", "{{ 1 }}")


def test_failures_are_one_line_and_quote_the_text(here: Place) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        here.evaluate("liquid", "{{ 1 | divided_by: 0 }}")
    assert str(caught.value) == "`{{ 1 | divided_by: 0 }}` failed: divided_by: can't divide by 0"


@pytest.mark.parametrize(
    "path",
    [
        "Variables.person.__class__", "Variables.person._secret", "Variables.person.method", "Variables.__class__",
        "Variables._scope", "Variables._known", "Variables.names.append", "Variables.names.__len__",
        "Variables.Products[0].__init__", "CorrelationId.__class__", "Variables['__dict__']", "Input._scope",
        "Variables.person['__dict__']", "self", "context", "environment", "globals", "forloop",
        "ExpressionExecutionContext", "Configuration.x",
    ],
)  # fmt: skip
def test_nothing_of_the_host_can_be_reached(here: Place, path: str) -> None:
    assert here.evaluate("liquid", f"[{{{{ {path} }}}}]") == "[]"


_TEN = "{% assign s = '0123456789' %}"

BOMBS = [
    "{{ (1..100000000) | join }}",
    "{{ (1..100000000) | size }}",
    "{{ (1..100000000) | sort | first }}",
    "{{ (1..100000000) | sum }}",
    "{{ (1..100000000) | json }}",
    "{{ 'x' | append: (1..100000000) }}",
    "{{ 'x' | default: (1..100000000) | join }}",
    "{% assign r = (1..100000000) %}{{ r | join }}",
    "{% for i in (1..100000000) %}{% endfor %}",
    "{% for i in (1..100000000) limit: 1 %}{% endfor %}",
    "{% assign r = (1..100000000) %}{% for i in r reversed %}{% endfor %}",
    "{% if (1..100000000) contains 'x' %}{% endif %}",
    "{% unless (1..100000000) contains 'x' %}{% endunless %}",
    "{% if (1..100000000) == (1..99999999) %}{% endif %}",
    "{% case (1..100000000) %}{% when 1 %}{% endcase %}",
    "{% cycle (1..100000000) %}",
    "{% echo (1..100000000) | join %}",
    "{% liquid assign r = (1..100000000) | join %}",
    "{% capture c %}{{ (1..100000000) | join }}{% endcapture %}",
    "{% tablerow i in (1..100000000) %}{% endtablerow %}",
    "{% assign n = 100000000 %}{{ (1..n) | join }}",
    "{{ ('1'..'100000000') | join }}",
    "{% for a in (1..999) %}{% for b in (1..999) %}{% for c in (1..999) %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in (1..9999) %}x{% endfor %}" * 100,
    "{% tablerow a in (1..9999) %}{% tablerow b in (1..9999) %}{% endtablerow %}{% endtablerow %}",
    _TEN + "{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}",
    _TEN + "{% for i in (1..60) %}{% assign s = s | prepend: s %}{% endfor %}",
    _TEN + "{% for i in (1..60) %}{% capture s %}{{ s }}{{ s }}{% endcapture %}{% endfor %}",
    _TEN + "{{ s " + "| replace: '', s " * 9 + "}}",
    "{% assign s = 'aaaaaaaaaa' %}{{ s " + "| replace: 'a', s " * 9 + "}}",
    _TEN + "{{ s | split: '' " + "| join: s | split: '' " * 9 + "}}",
    _TEN + "{% assign a = s | split: '' %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}",
    "{% assign n = 99999 %}{% for i in (1..60) %}{% assign n = n | times: n %}{% endfor %}",
    "{% assign n = 99999 %}{% for i in (1..9000) %}{% assign n = n | times: 99999999999 %}{% endfor %}",
    _TEN + "{% for i in (1..16) %}{% assign s = s | append: s %}{% endfor %}"
    + "{% for i in (1..9000) %}{{ s | upcase | size }}{% endfor %}",
    _TEN + "{% for i in (1..16) %}{% assign s = s | append: s %}{% endfor %}{% for i in (1..9999) %}"
    + "{% if s contains 'x' %}{% endif %}" * 50 + "{% endfor %}",
    "{% assign s = '<!--' %}{% for i in (1..16) %}{% assign s = s | append: s %}{% endfor %}{{ s | strip_html }}",
    "{{ 'now' | date: '%999999999d' }}",
    "{{ '1e999999999' | ceil }}",
    "{{ '1e400' | floor }}",
    "{{ 99999999999999999999 | date: '%Y' }}",
    "{% for a in (1..9999) %}{{ '' }}{% endfor %}" * 1_000,
]  # fmt: skip


@pytest.mark.parametrize("template", BOMBS)
def test_bombs_are_stopped_in_bounded_memory(here: Place, template: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((ExpressionLimit, ExpressionFailed)):
            here.evaluate("liquid", template)
        assert tracemalloc.get_traced_memory()[1] < 120 * 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "template",
    [
        "{% if 1 %}" * 500 + "{% endif %}" * 500,
        "{{ a" + "[a" * 2_000 + "]" * 2_000 + " }}",
        "{{ 1 }}" * 10_000,
        "{% for i in (1..2) %}" * 100 + "{% endfor %}" * 100,
        "{{ " + "9" * 5_000 + " }}",
    ],
)
def test_texts_that_are_too_much_are_refused(here: Place, template: str) -> None:
    with pytest.raises(ExpressionError):
        here.evaluate("liquid", template)


def test_without_the_library_the_error_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['liquid'] = None\n"
        "from holdfast.expressions import standard_evaluators\n"
        "from holdfast.model.scope import Names\n"
        "from holdfast.errors import UnknownLanguage\n"
        "try: standard_evaluators()['liquid'].compile('{{ 1 }}', Names(()))\n"
        "except UnknownLanguage as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install holdfast[liquid]" in done.stdout
