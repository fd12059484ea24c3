"""The tree in the docstring of `holdfast.errors` is the tree of the classes."""

from __future__ import annotations

import re
from inspect import getmembers, isclass

from holdfast import errors

ROW = re.compile(r"^ {4}(?P<branches>[│├└─ ]*)(?P<name>\w+)(?: {2,}\S.*)?$")


def drawn() -> dict[str, str | None]:
    """Each class of the drawing with its parent."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        row = ROW.match(line)
        if not row:
            continue
        depth = len(row["branches"]) // 4
        path[depth:] = [row["name"]]
        parents[row["name"]] = path[depth - 1] if depth else None
    return parents


def real() -> dict[str, str | None]:
    found = {name: value for name, value in getmembers(errors, isclass) if issubclass(value, errors.HoldfastError)}
    return {
        name: next((base.__name__ for base in value.__bases__ if issubclass(base, errors.HoldfastError)), None)
        for name, value in found.items()
    }


def test_the_drawing_is_true() -> None:
    assert drawn() == real()


def test_every_error_is_exported_and_says_what_happened() -> None:
    assert sorted(errors.__all__) == sorted(real())
    assert all(getattr(errors, name).__doc__ for name in errors.__all__)
