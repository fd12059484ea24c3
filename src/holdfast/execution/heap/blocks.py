"""Blocks: large lists and dicts among the variables, written separately and as a whole.

`for order in orders:` has three names for one list of ten thousand records: the list, its iterator, and the current
record. If the record were marked inside the list as shared, the list would change with every step and be written again
each time (rule H14). Items of a block therefore have no marks: a reference to an item is a path, such as `[17,
"lines"]`.

A *plain* block consists of JSON or scalars, shares nothing, and is handled as a whole. In a block of *objects*, each
item is written like other heap objects, and only the items themselves are addressed by path.

A block that is stored in pages is *tracked* (`execution.heap.tracked_block`): later commits write only its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.execution.heap.item_codec import (
    CELLS,
    JSON,
    OBJECTS,
    PLAIN_KINDS,
    TEXT,
    TYPED,
    WRITTEN_KINDS,
    ItemCodec,
    NotTracked,
)
from holdfast.execution.heap.paged_block import PagedBlock
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.values import Tree, TypeRegistry, decode, encode, tree_of
from holdfast.model.values.encoder import TAG

BLOCK = "block"

Way = tuple[int | str, ...]

_INT_MAX = 1 << 63


class Blocks:
    """Registry of blocks: filled while values are counted, used for addresses while they are written."""

    def __init__(self, types: TypeRegistry, *, trusting: bool, number_keys: bool = False) -> None:
        """`number_keys`: dicts may have int keys, which the caller must be able to store."""
        self._types = types
        self._trusting = trusting
        """Do not copy values that look like JSON. The packer must then handle refusals (`values.Tree`)."""
        self._number_keys = number_keys
        self._tracked: list[TrackedBlock] = []
        self._met: dict[int, None] = {}
        """Tracked blocks that variables refer to."""
        self.inner: set[int] = set()
        """Objects in the items of tracked blocks of objects. They have no path, so no variable may refer to them."""
        self.cells_met: set[int] = set()
        """Cells that variables refer to."""
        self.addresses = 0
        """Number of addresses written so far."""
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
        number = self._numbers.get(id(value))
        if number is None:
            return False
        if number < len(self._tracked):
            self._met[number] = None
            if self._tracked[number].kind == CELLS and value is not self._values[number]:
                self.cells_met.add(self._tracked[number].places[id(value)])
        return True

    def __len__(self) -> int:
        return len(self._values)

    # -- tracked blocks ------------------------------------------------------------------------------------------------

    def track(self, block: TrackedBlock, codec: ItemCodec) -> None:
        """Add a tracked block before anything is counted. Raises `NotTracked` if one of its items is shared."""
        number = len(self._tracked)
        self._tracked.append(block)
        ways = self._ways[number] = {}
        ids = [id(block.value)]
        if block.kind == CELLS:
            self._met[number] = None
        elif block.kind == TEXT:  # it cannot change
            ways[id(block.value[0])] = (0,)
            self._numbers.update({id(block.value): number, id(block.value[0]): number})
            self._add(block.value, (), None)
            return
        packed = {key: found for key, _, found in block.packed_items(codec)}
        for key in block.keys_in_reach():
            if not block.has(key):
                continue
            item = block.value[key]
            inside = packed[key] if key in packed else codec.pack(block.kind, item).ids
            if not inside and block.kind != CELLS:
                continue
            if block.kind in WRITTEN_KINDS:
                ways[id(item)] = (key,)
                ids.append(id(item))
                if not self.inner.isdisjoint(inside):
                    raise NotTracked
                self.inner.update(inside - {id(item)})
            else:
                found = {id(item): (key,), **{inner: (key, *way) for inner, way in _deep_ways(item).items()}}
                ways.update(found)
                ids += found
        before = len(self._numbers)
        self._numbers.update(dict.fromkeys(ids, number))
        if len(self._numbers) < before + len(ids) or not self.inner.isdisjoint(self._numbers):
            raise NotTracked
        self._add(block.value, (), None)

    def settle(self) -> list[TrackedBlock]:
        """Number the blocks for writing, without tracked blocks that no variable refers to. Returns the others."""
        kept = sorted(self._met)
        if len(kept) == len(self._tracked):
            return self._tracked  # All blocks keep their numbers.
        numbers = {number: place for place, number in enumerate([*kept, *range(len(self._tracked), len(self._values))])}
        self._values = [self._values[number] for number in numbers]
        self._written = [self._written[number] for number in numbers]
        self._numbers = {item: numbers[number] for item, number in self._numbers.items() if number in numbers}
        self._ways = {numbers[number]: ways for number, ways in self._ways.items() if number in numbers}
        self._tracked = [self._tracked[number] for number in kept]
        return self._tracked

    # -- new blocks ----------------------------------------------------------------------------------------------------

    def take_plain(self, value: Any) -> bool:
        """Make the value a block if it is plain and shares nothing within itself or with another block.

        Raises `ValueRefused` for a plain value that cannot be stored.
        """
        tree = plain_tree(value) if self._number_keys else tree_of(value)
        if tree is None or self._are_taken(tree.identities):
            return False
        as_it_is = tree.is_json and self._trusting
        self._add(value, tree.identities, {JSON: value} if as_it_is else {TYPED: self._encoded(value)})
        return True

    def _are_taken(self, identities: set[int]) -> bool:
        """Whether another block has one of these objects."""
        free = self._settled.isdisjoint(identities) and self.inner.isdisjoint(identities)
        return not free or not self._numbers.keys().isdisjoint(identities)

    def _encoded(self, value: Any) -> Any:
        if value.__class__ is dict and int in map(type, value):
            return {key: encode(item, self._types) for key, item in value.items()}
        return encode(value, self._types)

    def take_text(self, value: Any) -> None:
        """Make a long text or bytes a block. A lone surrogate is written as other texts are, because it needs encoding."""
        if value in self or not self._number_keys:
            return
        try:
            if isinstance(value, str):
                value.encode()
        except UnicodeEncodeError:
            return
        self._add([value], {id(value)}, {TEXT: [value]})

    def take_objects(self, value: list[Any], times: Mapping[int, int]) -> bool:
        """Make the value a block if no item occurs twice in it.

        `times` counts how often each object occurs in the list.
        """
        items = {id(item) for item in value} & times.keys()
        if any(times[item] > 1 for item in items) or any(item in self for item in value):
            return False
        if not self.inner.isdisjoint(times):
            return False
        self._settled.update(times)
        self._add(value, {id(value), *items}, None)
        return True

    def add(self, value: Any, identities: Iterable[int], written: dict[str, Any]) -> None:
        """Add a block that is written already. `identities` are the ids of the block and of the items that have a path."""
        self._add(value, identities, written)

    def _add(self, value: Any, identities: Iterable[int], written: dict[str, Any] | None) -> None:
        self._numbers.update(dict.fromkeys(identities, len(self._values)))
        self._values.append(value)
        self._written.append(written)

    def written(self, emit_item: Callable[[Any], Any]) -> list[dict[str, Any]]:
        """New blocks, in their order after the tracked ones."""
        new = len(self._tracked)
        return [
            {OBJECTS: [emit_item(item) for item in value]} if found is None else found
            for value, found in zip(self._values[new:], self._written[new:], strict=True)
        ]

    def address(self, value: Any) -> dict[str, Any]:
        self.addresses += 1
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


def has_packable_keys(value: dict[Any, Any]) -> bool:
    """Whether all keys are texts and ints that can be stored as they are."""
    if not set(map(type, value)) <= {str, int}:
        return False
    if not all(-_INT_MAX <= key < _INT_MAX if key.__class__ is int else key[:1] != "$" for key in value):
        return False
    try:
        "".join([key for key in value if key.__class__ is str]).encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_tree(value: Any) -> Tree | None:
    """The tree of a plain list or dict. The dict itself may have int keys."""
    tree = tree_of(value)
    if tree is not None or value.__class__ is not dict or not has_packable_keys(value):
        return tree
    items = list(value.values())
    tree = tree_of(items)
    return tree and Tree((tree.identities - {id(items)}) | {id(value)}, tree.is_json)


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
        ((kind, content),) = block.items()
        content = content_of(content)
        if kind in PLAIN_KINDS:
            into.append(content)
        elif kind == TYPED:
            is_tagged = content.__class__ is list or TAG in content
            into.append(
                decode(content, types) if is_tagged else {key: decode(item, types) for key, item in content.items()}
            )
        elif content.__class__ is dict:
            into.append({key: read_item(data) for key, data in content.items()})
        else:
            made: list[Any] = []
            into.append(made)
            made.extend(map(read_item, content))


def content_of(content: Any) -> Any:
    return content.load()[1] if content.__class__ is PagedBlock else content


def at(blocks: list[Any], address: Mapping[str, Any]) -> Any:
    found = blocks[address["n"]]
    for step in address.get("at", ()):
        found = found[step]
    return found
