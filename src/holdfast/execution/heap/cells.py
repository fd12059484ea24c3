"""Cells: objects that several items of large blocks refer to.

`index[key] = items[-1]` puts one object into two blocks. It is stored once, as a *cell*, in a block of its own (kind
`CELLS`), and the items link to it by number. A change of the object then writes one cell, and an item that begins to
share an object writes a link.

Cells may link to cells, but not in a circle. Links are counted (`CellLinks`), and a cell that nothing refers to is
removed. A link stands only in a list, a dict value or a field, because a commit replaces the objects that code could
reach by copies, and the items that link to them must be changed in place (`replace_inside`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from holdfast.execution.heap.item_codec import CELL, CELLS, NO_LINKS, ItemCodec, NotTracked
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.values import SCALARS
from holdfast.model.values.encoder import TAG

_LINKING = frozenset({"list", "dict", "data"})
_CONTAINING = _LINKING | {"tuple", "leaf", "reference"}
"""Objects that an item with links may contain."""
STEPS_MAX = 10_000
"""Cells that are searched for a circle."""


def may_link(part: tuple[str, dict[str, Any], list[Any]], cells: Collection[int]) -> bool:
    """Whether links in this decomposed object can be replaced in place. `cells` are the ids of cells."""
    tag, _, inside = part
    if tag == "dict":
        return not any(id(key) in cells for key in inside[::2])
    return tag in _CONTAINING and (tag in _LINKING or not any(id(item) in cells for item in inside))


# -- read --------------------------------------------------------------------------------------------------------------


def links_in(data: Any) -> Iterator[int]:
    """Links in stored data."""
    todo = [data]
    while todo:
        item = todo.pop()
        if item.__class__ is list:
            todo += item
        elif item.__class__ is dict:
            if item.get(TAG) == CELL:
                yield item["id"]
            else:
                todo += item.values()


def linked_first(wanted: Iterable[int], links_of: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Cells in an order in which each comes after those that it links to. Raises `NotTracked` if they form a circle."""
    done: set[int] = set()
    for first in wanted:
        way: dict[int, Iterator[int]] = {} if first in done else {first: iter(links_of(first))}
        while way:
            number, rest = next(reversed(way.items()))
            below = next((link for link in rest if link not in done), None)
            if below is None:
                done.add(number)
                del way[number]
                yield number
            elif below in way:
                raise NotTracked
            else:
                way[below] = iter(links_of(below))


def read_cells(
    stored: Mapping[int, Any], read: Callable[[Any], Any], into: dict[int, Any]
) -> dict[int, frozenset[int]]:
    """Read the cells into a dict that `read` looks them up in. Returns their links."""
    links = {number: frozenset(links_in(data)) for number, data in stored.items()}
    made: dict[int, Any] = {}
    for number in linked_first(stored, links.__getitem__):
        made[number] = into[number] = read(stored[number])
    into.clear()
    into.update({number: made[number] for number in stored})  # in the stored order
    return {number: found for number, found in links.items() if found}


# -- links -------------------------------------------------------------------------------------------------------------

Holder = tuple[TrackedBlock, Any]
"""Block and key of an item that links to a cell."""


class CellLinks:
    """The items that link to each cell. A block knows the cells that its items link to (`TrackedBlock.links`)."""

    def __init__(self, pool: TrackedBlock) -> None:
        self.pool = pool
        self._holders: dict[int, set[Holder]] = {}

    def add_all(self, block: TrackedBlock) -> None:
        """Add the links of a block that was read."""
        for key, links in block.links.items():
            self._add((block, key), links)

    def _add(self, holder: Holder, links: Iterable[int]) -> None:
        for link in links:
            self._holders.setdefault(link, set()).add(holder)

    def holders(self, number: int) -> Iterable[Holder]:
        return self._holders.get(number, ())

    def update(
        self,
        blocks: Iterable[TrackedBlock],
        dropped: Iterable[TrackedBlock],
        referred: Collection[int],
        codec: ItemCodec,
    ) -> None:
        """Follow the changes of a burst, and remove the cells that nothing refers to.

        `referred` are the cells that variables refer to. Raises `NotTracked` if cells link in a circle.
        """
        loose = set(self.pool.addressed) | set(self.pool.touched)
        for block in blocks:
            for key in block.changed_keys():
                self._relink(block, key, block.links_after(key), loose)
        for block in dropped:
            for key in list(block.links):
                self._relink(block, key, NO_LINKS, loose)
        while loose:
            number = loose.pop()
            if number in referred or self._holders.get(number) or number not in self.pool.value:
                continue
            self._holders.pop(number, None)
            self._relink(self.pool, number, NO_LINKS, loose)
            self.pool.remove(number, codec)

    def _relink(self, block: TrackedBlock, key: Any, links: frozenset[int], loose: set[int]) -> None:
        before = block.links.get(key, NO_LINKS)
        for link in before - links:
            self._holders[link].discard((block, key))
            loose.add(link)
        added = links - before
        if added:
            self._add((block, key), added)
            if block is self.pool:
                self._check_circle(key, added)
        if links:
            block.links[key] = links
        else:
            block.links.pop(key, None)

    def _check_circle(self, number: int, added: Iterable[int]) -> None:
        todo, seen = list(added), set[int]()
        while todo:
            link = todo.pop()
            if link == number or len(seen) > STEPS_MAX:
                raise NotTracked
            if link not in seen:
                seen.add(link)
                todo += self.pool.links_after(link)

    def replace_touched(self, codec: ItemCodec) -> None:
        """After the commit: replace the cells that code could reach by copies, also in the items that link to them."""
        pool = self.pool
        after = pool.packed_after()
        copies: dict[int, Any] = {}
        alive: list[Any] = []
        for number in linked_first(after, lambda at: [link for link in pool.links.get(at, ()) if link in after]):
            old = pool.value[number]
            del pool.places[id(old)]
            copies[id(old)] = pool.value[number] = codec.unpack(CELLS, after[number])
            alive.append(old)
            pool.places[id(pool.value[number])] = number
        for number in after:
            for block, key in self.holders(number):
                if key in (after if block is pool else block.packed_after()):
                    continue  # it is replaced itself
                item = block.value[key]
                if id(item) in copies and block is not pool:
                    block.value[key] = copies[id(item)]
                else:
                    replace_inside(item, copies, pool.places)
        pool.begin()


# -- replace -----------------------------------------------------------------------------------------------------------


def replace_inside(item: Any, copies: Mapping[int, Any], cells: Collection[int]) -> None:
    """Replace objects, given by id(), in the lists, dicts and fields of an item. `cells` are the ids of other cells."""
    todo = [item]
    for container in todo:  # grows while it is iterated
        pairs, put = _parts(container)
        for key, part in pairs:
            if part.__class__ in SCALARS:
                continue
            if id(part) in copies:
                put(key, copies[id(part)])
            elif id(part) not in cells:
                todo.append(part)


def _parts(container: Any) -> tuple[Iterable[tuple[Any, Any]], Callable[[Any, Any], None]]:
    if container.__class__ is dict:
        return list(container.items()), container.__setitem__
    if container.__class__ is list:
        return list(enumerate(container)), container.__setitem__
    if container.__class__ is tuple:
        return list(enumerate(container)), _refuse
    if dataclasses.is_dataclass(container) and not isinstance(container, type):
        names = [field.name for field in dataclasses.fields(container)]
        return (
            [(name, getattr(container, name)) for name in names if hasattr(container, name)],
            lambda name, part: object.__setattr__(container, name, part),
        )
    return (), _refuse


def _refuse(key: Any, part: Any) -> None:
    raise AssertionError(f"A link at {key!r} stands in an object that cannot be changed.")
