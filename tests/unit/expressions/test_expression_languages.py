"""The small languages, what all languages have in common, and what importing them loads."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.expressions import standard_evaluators
from holdfast.model.scope import Names

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import PlaceMaker

LOOKS_LIKE_CODE: list[Any] = [
    {"$python": "1+1"},
    {"$code": "boom"},
    [{"$variable": "other"}],
    "{{ 1 | plus: 1 }}",
    "{% if true %}x{% endif %}",
    "${1 + 1}",
    "#{1}",
    "1 + 1",
    "`${1}`",
    "f'{x}'",
    "%(x)s {0} %d",
    "</script><script>1</script>",
    "__import__('os')",
    '"; throw 1; "',
    "\\u0041",
    "$&$1$`",
    "*/ 1 /*",
]


@pytest.mark.parametrize("data", LOOKS_LIKE_CODE, ids=repr)
def test_data_that_looks_like_code_stays_data(place: PlaceMaker, data: Any) -> None:
    here = place({"data": data, "holder": {"inside": data}, "other": "evaluated"}, {"given": data})
    assert here.evaluate("python", "data") == data
    assert here.evaluate("python", "[holder.inside, inputs.given]") == [data, data]
    assert here.evaluate("javascript", "variables.data") == data
    assert here.evaluate("javascript", "getData()") == data
    assert here.evaluate("javascript", "[getVariable('hol' + 'der').inside, getGiven()]") == [data, data]
    assert here.evaluate("variable", "data") == data
    assert here.evaluate("input", "given") == data
    assert here.evaluate("literal", data) == data
    assert here.run("python", "data").value == data
    here.run("javascript", "setVariable('other', variables.data)")
    assert here.value("other") == data
    if isinstance(data, str):
        assert here.evaluate("liquid", "{{ Variables.data }}") == data
        assert here.evaluate("python", "f'{data}'") == data
        assert here.evaluate("javascript", "`${getData()}`") == data
    else:
        assert here.evaluate("liquid", "{{ Variables.data | json }}") == here.evaluate(
            "javascript", "toJson(getData())"
        )


def test_evaluating_changes_no_value_of_the_workflow(place: PlaceMaker) -> None:
    data = {"list": [1, {"a": 2}]}
    here = place({"data": data})
    here.evaluate("javascript", "const d = JSON.parse(toJson(variables.data)); d.list.push(1); d")
    here.evaluate("liquid", "{% assign x = Variables.data.list | concat: Variables.data.list %}{{ x | json }}")
    here.evaluate("python", "[*data.list, 3] + data.list")
    here.run("python", "mine = data.list + [5]\nmine.append(6)")
    assert here.value("data") is data
    assert data == {"list": [1, {"a": 2}]}


def test_a_script_that_writes_gives_a_new_value(place: PlaceMaker) -> None:
    data = [1]
    here = place({"data": data})
    here.run("javascript", "variables.data.push(2)")
    assert (here.value("data"), data) == ([1, 2], [1])


# -- variable, input, literal, object ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["total", "id-of-total", {"id": "id-of-total"}, {"id": "unknown", "name": "total"}])
def test_a_variable_by_name_or_id(place: PlaceMaker, source: Any) -> None:
    here = place({"total": 5}, near=1)
    compiled = standard_evaluators()["variable"].compile(source, here.names)
    assert compiled.evaluate(here.scope) == 5
    assert [read(here.scope) for _, read in compiled.reads] == [5]


def test_the_nearest_variable(place: PlaceMaker) -> None:
    assert place({"total": 5}, total=6).evaluate("variable", "total") == 6
    assert place({"total": 5}, total=6).evaluate("variable", "id-of-total") == 5


@pytest.mark.parametrize(("language", "source"), [("variable", "totl"), ("variable", "amount"), ("input", "total")])
def test_an_unknown_name_is_refused_when_compiled(place: PlaceMaker, language: str, source: str) -> None:
    here = place({"total": 5}, {"amount": 3})
    with pytest.raises(ExpressionRefused, match=f"no {language} '{source}'"):
        standard_evaluators()[language].compile(source, here.names)


def test_a_close_name_is_suggested(place: PlaceMaker) -> None:
    with pytest.raises(ExpressionRefused, match="Did you mean 'total'"):
        place({"total": 5}).evaluate("variable", "totl")


@pytest.mark.parametrize("source", [None, 5, "", {}, {"id": 5}])
def test_a_name_must_be_a_text(place: PlaceMaker, source: Any) -> None:
    for language in ("variable", "input"):
        with pytest.raises(ExpressionSyntax, match="takes a name"):
            place({"total": 5}).evaluate(language, source)


@pytest.mark.parametrize("source", ["amount", {"name": "amount"}])
def test_an_input(place: PlaceMaker, source: Any) -> None:
    assert place({"amount": "hidden"}, {"amount": 3}).evaluate("input", source) == 3


@pytest.mark.parametrize(
    ("source", "value"),
    [('["One","Two"]', ["One", "Two"]), ('{"a": 1.5}', {"a": 1.5}), ("5", 5), ("", None), (" ", None), ([1], [1])],
)
def test_an_object_is_parsed_json(place: PlaceMaker, source: Any, value: Any) -> None:
    assert place().evaluate("object", source) == value


def test_an_object_is_new_each_time(place: PlaceMaker) -> None:
    here = place()
    evaluate = standard_evaluators()["object"].compile('{"a": []}', here.names).evaluate
    evaluate(here.scope)["a"].append(1)
    assert evaluate(here.scope) == {"a": []}


@pytest.mark.parametrize("source", ["{", "nope", "[" * 100_000, "{'a': 1}"])
def test_what_is_no_json_is_known_when_compiled(place: PlaceMaker, source: str) -> None:
    with pytest.raises(ExpressionSyntax, match="is not JSON"):
        place().evaluate("object", source)


def test_a_literal_is_constant() -> None:
    compiled = standard_evaluators()["literal"].compile(5, Names(()))
    assert (compiled.evaluate([None, None]), compiled.constant) == (5, True)


@pytest.mark.parametrize("language", ["variable", "input", "literal", "object", "liquid"])
def test_languages_without_scripts_say_so(place: PlaceMaker, language: str) -> None:
    with pytest.raises(ExpressionRefused, match="python or javascript"):
        place().run(language, "x")


@pytest.mark.parametrize("language", ["python", "javascript", "liquid"])
@pytest.mark.parametrize("source", [None, 5, {"a": 1}])
def test_code_is_a_text(place: PlaceMaker, language: str, source: Any) -> None:
    with pytest.raises(ExpressionSyntax, match="is a text"):
        place().evaluate(language, source)


def test_every_evaluator_stands_under_its_own_name() -> None:
    evaluators = standard_evaluators()
    assert [evaluator.language for evaluator in evaluators.values()] == list(evaluators)
    assert set(evaluators) == {"python", "javascript", "liquid", "literal", "variable", "input", "object", "code"}


def test_engines_are_loaded_when_they_are_used() -> None:
    program = (
        "import sys; from holdfast.expressions import standard_evaluators; standard_evaluators()\n"
        "print(sorted({'quickjs', '_quickjs', 'liquid', 'babel', 'dateutil', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
