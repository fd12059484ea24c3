"""What of a foreign document our own data cannot say, kept so that writing it back gives the same document.

The *canonical* form is what the writer makes of our data alone. The residue is the difference between it and the
document that was read, as small tables by JSON pointer:

    keep     values that only the document has           {"/text/memoryReference": {…}}
    spelled  values that the document writes differently  {"/version": [1, 2]}      (canonical, document)
    absent   values that the document leaves out          {"/description": "…"}

    together groups of spellings that count only together  [["/type", "/script/expression"]]

Each is applied only while it still fits: a spelling counts as long as the canonical value is the one that was replaced,
a kept value as long as its place exists and is free. So whoever edits our data is never overruled by the past.
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
    """The residue of a document; empty where the canonical form says it all."""
    found: dict[str, Json] = {"keep": {}, "spelled": {}, "absent": {}}
    _compare(canonical, document, "", found)
    return {table: entries for table, entries in found.items() if entries}


def restore(canonical: Json, residue: Mapping[str, Any]) -> Json:
    """The document again: the canonical form with whatever of the residue still fits."""
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
    """Replaced as a whole: half an expression of the past and half of today's is none."""
    if not isinstance(canonical, dict) or not isinstance(document, dict):
        return True
    return key in _ATOM_NAMES or (canonical.keys() <= _EXPRESSION_KEYS and document.keys() <= _EXPRESSION_KEYS)


def _by_key(items: list[Any]) -> dict[str, Json] | None:
    """The items of a list by what tells them apart, or by position; None for a list of plain values."""
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
    """The object that holds what the pointer names, and the key there."""
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
