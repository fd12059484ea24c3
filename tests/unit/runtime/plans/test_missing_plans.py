"""Contents that cannot be compiled are not compiled for every piece of work, and the reason names everything that is missing."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from holdfast import activity
from holdfast.errors import CodeMissing, InvalidDefinition
from holdfast.model.problem import Problem
from holdfast.runtime.plans import missing_plans
from holdfast.runtime.plans.missing_plans import MissingPlans, code_missing


def problem(name: str, code: str = "unknown-type") -> Problem:
    return Problem(path="/root", code=code, message=f"'{name}' is unknown.", remedy="")


def test_the_last_error_is_raised_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = MissingPlans()
    missing.check("c1")
    missing.add("c1", CodeMissing("order", "'pack' is unknown", "shop", content="c1"))

    with pytest.raises(CodeMissing, match="'pack' is unknown") as found:
        missing.check("c1")
    assert found.value.content == "c1"

    missing.forget("c1")
    missing.check("c1")
    monkeypatch.setattr(missing_plans, "RECOMPILE_SECONDS", -1.0)
    missing.add("c1", CodeMissing("order", "'pack' is unknown"))
    missing.check("c1")


def test_everything_that_is_missing_is_named() -> None:
    error = InvalidDefinition([problem("pack"), problem("pack"), problem("ship")])

    found = code_missing({"id": "order", "metadata": {"module": "no_such_shop"}}, "c1", error)

    assert found.reason == "'pack' is unknown; 'ship' is unknown"
    assert "--activities no_such_shop" in found.remedy


def test_a_loaded_module_is_not_asked_for_again() -> None:
    found = code_missing({"id": "order", "metadata": {"module": "json"}}, "c1", InvalidDefinition([problem("pack")]))

    assert "--activities" not in found.remedy
    assert "aliases" in found.remedy


def test_a_module_that_is_imported_but_not_registered_is_asked_for() -> None:
    missing = Problem(
        path="/root", code="unknown-type", message="Activity 'a' has the unknown type 'dumps'.", remedy=""
    )

    found = code_missing({"id": "order", "metadata": {"module": "json"}}, "c1", InvalidDefinition([missing]))

    assert "--activities json" in found.remedy


def test_an_activity_with_another_type_name_is_not_the_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy asked for a module that was loaded: the renamed activity was in it under its old variable."""

    @activity(name="bill")
    async def charge() -> None: ...

    module = ModuleType("shop_with_bill")
    monkeypatch.setattr(module, "charge", charge, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    found = code_missing(
        {"id": "order", "metadata": {"module": module.__name__}}, "c1", InvalidDefinition([problem("charge")])
    )

    assert "--activities" not in found.remedy
    assert "aliases" in found.remedy


def test_changed_inputs_have_their_own_remedy() -> None:
    found = code_missing({"id": "order"}, "c1", InvalidDefinition([problem("x", "unknown-input")]))

    assert found.changed
    assert "Keep its old inputs" in found.remedy


def test_a_document_names_modules_and_plugins() -> None:
    found = code_missing({"id": "order"}, "c1", InvalidDefinition([problem("pack")]))

    assert "module or plugin" in found.remedy
