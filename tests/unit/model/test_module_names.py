"""Names of modules in stored data: a moved module keeps the name that stored data has for it."""

from __future__ import annotations

from importlib import import_module

import pytest

from holdfast.authoring import primitives
from holdfast.authoring.primitives import Finished
from holdfast.model.module_names import _MOVED, current_name, loaded_module, portable_name, public_name, stored_name
from holdfast.model.values import TypeRegistry, decode, encode


def test_other_modules_are_stored_by_their_import_name() -> None:
    assert stored_name("decimal") == current_name("decimal") == portable_name("decimal") == "decimal"


@pytest.mark.parametrize("stored", _MOVED)
def test_a_moved_module_keeps_its_stored_name(stored: str) -> None:
    module = import_module(current_name(stored))

    assert stored_name(module.__name__) == portable_name(module.__name__) == stored
    assert loaded_module(stored) is module


def test_classes_of_moved_modules_are_stored_and_read_by_their_stored_name() -> None:
    types = TypeRegistry([Finished])

    assert loaded_module("holdfast.authoring.words") is primitives
    assert public_name(Finished) == "holdfast.authoring.words:Finished"
    assert decode(encode(Finished([1]), types), types) == Finished([1])
    assert types.find("holdfast.authoring.words:Finished") is Finished
