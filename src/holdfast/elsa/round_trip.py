"""Residue of a foreign document: data that our model cannot express, kept so that an export reproduces the document.

The *canonical* form is what the writer produces from our data alone. The residue is the difference between the
canonical form and the document that was read, as small tables by JSON pointer:

    keep     values that only the document has           {"/text/memoryReference": {…}}
    spelled  values that the document writes differently  {"/version": [1, 2]}      (canonical, document)
    absent   values that the document omits               {"/description": "…"}

    together groups of spellings that apply only together  [["/type", "/script/expression"]]

An entry applies only while it still fits: a spelling while the canonical value is the one it replaced, a kept value
while its parent exists and its key is free. An edit of our data therefore always takes precedence over the residue.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_ATOM_NAMES = frozenset({"expression", "variable"})
_EXPRESSION_KEYS = frozenset({"type", "value"})

_ITEM_KEYS = ("id", "name", "label")


def difference(canonical: Json, document: Json) -> Json:
    """The residue of a document; empty if the canonical form equals the document."""
    found: dict[str, Json] = {"keep": {}, "spelled": {}, "absent": {}}
    _compare(canonical, document, "", found)
    return {table: entries for table, entries in found.items() if entries}


def restore(canonical: Json, residue: Mapping[str, Any]) -> Json:
    """The document: the canonical form with all entries of the residue that still fit."""
    document: Json = copy.deepcopy(canonical)
    spellings: Mapping[str, list[Any]] = residue.get("spelled", {})
    stale = {pointer for pointer, (was, _) in spellings.items() if _at(document, pointer) != was}
    for group in residue.get("together", ()):
        stale.update(group if stale & set(group) else ())
    for pointer, (_, spelled) in spellings.items():
        place = _place(document, pointer) if pointer not in stale else None
        if place is not None:
            place[0][place[1]] = copy.deepcopy(spelled)
    for pointer, was in residue.get("absent", {}).items():
        place = _place(document, pointer)
        if place is not None and _at(document, pointer) == was:
            del place[0][place[1]]
    for pointer, kept in residue.get("keep", {}).items():
        place = _place(document, pointer)
        if place is not None and place[1] not in place[0]:
            place[0][place[1]] = copy.deepcopy(kept)
    return document


_NOTHING = object()


def _compare(canonical: Json, document: Json, path: str, found: dict[str, Json]) -> None:
    for key, value in document.items():
        here = f"{path}/{_escaped(key)}"
        if key not in canonical:
            found["keep"][here] = value
        else:
            _compare_values(canonical[key], value, here, found, atom=_is_atom(key, canonical[key], value))
    for key, value in canonical.items():
        if key not in document:
            found["absent"][f"{path}/{_escaped(key)}"] = value


def _compare_values(canonical: Any, document: Any, path: str, found: dict[str, Json], *, atom: bool) -> None:
    if canonical == document and type(canonical) is type(document):
        return
    if not atom:
        _compare(canonical, document, path, found)
        return
    if isinstance(canonical, list) and isinstance(document, list):
        ours, theirs = _by_key(canonical), _by_key(document)
        if ours is not None and theirs is not None and list(ours) == list(theirs):
            for key, item in ours.items():
                _compare(item, theirs[key], f"{path}/{_escaped(key)}", found)
            return
    found["spelled"][path] = [canonical, document]


def _is_atom(key: str, canonical: Any, document: Any) -> bool:
    """Whether a value is replaced as a whole. Mixing an old and a new expression would give an invalid one."""
    if not isinstance(canonical, dict) or not isinstance(document, dict):
        return True
    return key in _ATOM_NAMES or (canonical.keys() <= _EXPRESSION_KEYS and document.keys() <= _EXPRESSION_KEYS)


def _by_key(items: list[Any]) -> dict[str, Json] | None:
    """Items of a list by a unique key, or by position; None for a list of plain values."""
    if not all(isinstance(item, dict) for item in items):
        return None
    for key in _ITEM_KEYS:
        names = [item.get(key) for item in items]
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            return {str(name): item for name, item in zip(names, items, strict=True)}
    return {str(index): item for index, item in enumerate(items)}


def _at(document: Json, pointer: str) -> Any:
    place = _place(document, pointer)
    return place[0].get(place[1], _NOTHING) if place else _NOTHING


def _place(document: Json, pointer: str) -> tuple[Json, str] | None:
    """The object that contains the pointer's target, and the key in it."""
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    holder: Any = document
    for part in parents:
        inner = _by_key(holder) if isinstance(holder, list) else holder
        if not isinstance(inner, dict) or part not in inner:
            return None
        holder = inner[part]
    return (holder, last) if isinstance(holder, dict) else None


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
