"""Blocks: large lists and dicts among the variables, written separately and as a whole.

`for order in orders:` has three names for one list of ten thousand records: the list, its iterator, and the current
record. If the record were marked inside the list as shared, the list would change with every step and be written again
each time (rule H14). Items of a block therefore have no marks: a reference to an item is a path, such as `[17,
"lines"]`.

A *plain* block consists of JSON or scalars, shares nothing, and is handled as a whole. In a block of *objects*, each
item is written like other heap objects, and only the items themselves are addressed by path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.model.values import TypeRegistry, decode, encode, tree_of
from holdfast.model.values.encoder import TAG

BLOCK = "block"

Way = tuple[int | str, ...]


class Blocks:
    """Registry of blocks: filled while values are counted, used for addresses while they are written."""

    def __init__(self, types: TypeRegistry, *, trusting: bool) -> None:
        self._types = types
        self._trusting = trusting
        """Do not copy values that look like JSON. The packer must then handle refusals (`values.Tree`)."""
        self._values: list[Any] = []
        self._written: list[dict[str, Any] | None] = []
        """None for a block of objects, which the heap writes."""
        self._numbers: dict[int, int] = {}
        """Block number by the id() of the block and of everything in it that is addressed by path."""
        self._ways: dict[int, dict[int, Way]] = {}
        self._settled: set[int] = set()
        """Objects inside blocks of objects. Blocks refer only to earlier blocks, so later blocks must not take these
        objects.
        """

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._numbers

    def take_plain(self, value: Any) -> bool:
        """Make the value a block if it is plain and shares nothing within itself or with another block.

        Raises `ValueRefused` for a plain value that cannot be stored.
        """
        tree = tree_of(value)
        if tree is None or not (
            tree.identities.isdisjoint(self._numbers) and tree.identities.isdisjoint(self._settled)
        ):
            return False
        as_it_is = tree.is_json and self._trusting
        self._add(value, tree.identities, {"json": value} if as_it_is else {"typed": encode(value, self._types)})
        return True

    def take_objects(self, value: list[Any], times: Mapping[int, int]) -> bool:
        """Make the value a block if no item occurs twice in it.

        `times` counts how often each object occurs in the list.
        """
        items = {id(item) for item in value} & times.keys()
        if any(times[item] > 1 for item in items) or any(item in self for item in value):
            return False
        self._settled.update(times)
        self._add(value, {id(value), *items}, None)
        return True

    def _add(self, value: Any, identities: Iterable[int], written: dict[str, Any] | None) -> None:
        self._numbers.update(dict.fromkeys(identities, len(self._values)))
        self._values.append(value)
        self._written.append(written)

    def written(self, emit_item: Callable[[Any], Any]) -> list[dict[str, Any]]:
        return [
            {"objects": [emit_item(item) for item in value]} if found is None else found
            for value, found in zip(self._values, self._written, strict=True)
        ]

    def address(self, value: Any) -> dict[str, Any]:
        number = self._numbers[id(value)]
        whole = value is self._values[number]
        return {TAG: BLOCK, "n": number} if whole else {TAG: BLOCK, "n": number, "at": self._way(value, number)}

    def _way(self, value: Any, number: int) -> Way:
        block, ways = self._values[number], self._ways.get(number)
        if ways is None:  # fast path: most references point to a direct item
            items, steps = (block.values(), block) if block.__class__ is dict else (block, range(len(block)))
            ways = self._ways[number] = dict(zip(map(id, items), zip(steps), strict=True))
        if id(value) not in ways:
            ways.update(_deep_ways(block))
        return ways[id(value)]


def _deep_ways(block: Any) -> dict[int, Way]:
    ways: dict[int, Way] = {}
    todo: list[tuple[Any, Way]] = [(block, ())]
    for container, way in todo:  # grows while it is iterated
        for step, item in container.items() if container.__class__ is dict else enumerate(container):
            if item.__class__ is dict or item.__class__ is list:
                ways[id(item)] = (*way, step)
                todo.append((item, (*way, step)))
    return ways


def read_blocks(
    written: Iterable[Mapping[str, Any]], types: TypeRegistry, read_item: Callable[[Any], Any], into: list[Any]
) -> None:
    """Append each block before its items are read, because they may refer to earlier blocks and to their own block."""
    for block in written:
        if "json" in block:
            into.append(block["json"])
        elif "typed" in block:
            into.append(decode(block["typed"], types))
        else:
            made: list[Any] = []
            into.append(made)
            made.extend(map(read_item, block["objects"]))


def at(blocks: list[Any], address: Mapping[str, Any]) -> Any:
    found = blocks[address["n"]]
    for step in address.get("at", ()):
        found = found[step]
    return found
