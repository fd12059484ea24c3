"""Branch writer: packs the branches of wide containers, so that the next burst reads only those that it uses.

A branch sleeps if all of it waits and nothing outside refers into it: no queued work, no compensation, no scope that it
shares. Variables of functions may share objects with other variables (rule M17). A branch with such variables sleeps only
if they are scalars, or if its owner can rebuild them (`Hooks.asleep`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from weakref import ProxyType

from holdfast.execution.activation import RUNNING, Activation
from holdfast.execution.branches.branch_index import BranchChanges, BranchIndex
from holdfast.execution.branches.branch_state import pack_branch, unpack_branch
from holdfast.execution.branches.waking_dict import WakingDict
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.live import LiveInstance
from holdfast.execution.part_writer import Array, PartWriter, is_plain, slots
from holdfast.model.scope import Scope

WIDE_MIN = 200
"""Number of kids from which the branches of a container sleep."""


def is_wide(kids: dict[int, Activation]) -> bool:
    return len(kids) >= WIDE_MIN or kids.__class__ is WakingDict


def may_sleep(live: LiveInstance) -> bool:
    """Whether branches sleep or can sleep after this commit."""
    return live.asleep is not None or len(live.waiters) >= WIDE_MIN


class BranchWriter:
    def __init__(self, live: LiveInstance, *, trusting: bool) -> None:
        self._live = live
        self._trusting = trusting
        self._busy = {id(owner) for _, owner, _ in live.queue}
        self._taken: dict[int, int] = {}
        """Kid of each scope in a record, by id() of the scope."""
        self._rivals: list[Activation] = []
        """Kids that were packed before a later one turned out to share a scope with them."""
        self.records: dict[int, bytes] = {} if live.asleep is None else live.asleep.records
        self.packed: dict[int, tuple[list[Activation], bytes]] = {}
        """Branches that sleep after this commit and were awake before it."""
        self.marks: set[str] = set()
        self.effects: set[int] = set()
        """Bookmarks and effects of these branches."""

    def pack(self, kids: Iterable[Activation], in_use: Iterable[int]) -> list[Activation]:
        """Pack the branches of these kids. Returns the kids that stay awake. `in_use` are scopes of other parts, by id()."""
        reserved = {*in_use, *map(id, self._scopes_outside())}
        restless = [kid for kid in kids if not self._pack(kid, reserved)]
        restless += self._rivals
        self._rivals = []
        return sorted(restless, key=lambda kid: kid.id)

    def changes(self) -> BranchChanges | None:
        asleep = self._live.asleep
        if asleep is None and not self.packed:
            return None
        added = [unpack_branch(record) for _, record in self.packed.values()]
        if asleep is None:
            return BranchChanges(BranchIndex(), [], added)
        return BranchChanges(asleep.index, list(asleep.woken.values()), added)

    def _pack(self, kid: Activation, reserved: set[int]) -> bool:
        owner = kid.owner
        assert owner is not None
        members = [kid, *kid.descendants()] if kid.kids is None or not is_wide(kid.kids) else [kid]
        if not self._waits(members):
            return False
        part = _BranchPart(self._live, self._live.plan.types, None, self._trusting, reserved=reserved)
        place = part.begin(owner, kid)
        try:
            activations = part.activations_of(members)
        except CannotSleep:
            return False
        rivals = {self._taken[scope] for scope in part.numbers if scope in self._taken}
        if rivals:
            reserved.update(part.numbers)
            self._rivals += [self.packed.pop(rival)[0][0] for rival in rivals if rival in self.packed]
            return False
        del part.numbers[id(owner.scope)]
        self._taken.update(dict.fromkeys(part.numbers, kid.id))
        live = self._live
        marks = [part.bookmark(live.bookmarks[key]) for item in members for key in item.bookmarks or ()]
        effects = [part.effect(live.effects[item.id]) for item in members if item.id in live.effects]
        own = part.scopes[1 if place is None else 2 :]
        self.packed[kid.id] = members, pack_branch((owner.id, activations, own, marks, effects, place))
        return True

    def _waits(self, members: list[Activation]) -> bool:
        live = self._live
        has_wait = False
        for item in members:
            if item.status != RUNNING or id(item) in self._busy or item.id in live.ending:
                return False
            if item.kids and is_wide(item.kids):
                return False
            has_wait = has_wait or bool(item.bookmarks) or item.id in live.effects
        return has_wait

    def _scopes_outside(self) -> Iterator[Scope]:
        """Scopes that other parts of the instance refer to."""
        live = self._live
        tops = [scope for _, _, scope in live.queue]
        tops += [item.scope for item in live.compensations]
        tops += [scope for _, scope in live.cleanup.data or ()]
        for scope in tops:
            level: Any = scope
            while type(level) is not ProxyType and isinstance(level, list):
                yield level
                level = list.__getitem__(level, 0)

    def update_records(self) -> None:
        """Set the records of this commit, and report each change to the book that stores them."""
        for members, _ in self.packed.values():
            self.marks.update(mark for item in members for mark in item.bookmarks or ())
            self.effects.update(item.id for item in members)
        records, asleep, book = self.records, self._live.asleep, self._live.heap
        if asleep is not None:
            for kid in [kid for kid in asleep.woken if kid in records and kid not in self.packed]:
                if book is not None:
                    book.removed(records, kid)
                del records[kid]
        for kid, (_, record) in self.packed.items():
            if book is not None:
                book.key(records, kid)
            records[kid] = record


class CannotSleep(Exception):
    """A branch refers to something outside of it, or holds objects that other parts may share."""


class _BranchPart(PartWriter):
    reserved: frozenset[int] | set[int] = frozenset()

    def begin(self, owner: Activation, kid: Activation) -> Any:
        """Number the scope of the owner, and the scope that the owner can rebuild. Returns the data for that, or None."""
        self.numbers[id(owner.scope)] = 0
        self.scopes.append(())
        asleep = owner.node.hooks.asleep
        place = None if asleep is None else asleep(owner, kid)
        if place is not None:
            self.numbers[id(kid.outer)] = 1
            self.scopes.append(())
        return place

    def scope(self, scope: Scope) -> int:
        number = self.numbers.get(id(scope))
        if number is not None:
            return number
        if id(scope) in self.reserved or type(list.__getitem__(scope, 0)) is ProxyType:
            raise CannotSleep
        return super().scope(scope)

    def frame(self, scope: Scope, shape: FrameShape, parent: int | None) -> Array:
        found = {label: value for label, index in slots(shape) if (value := scope[index]) is not UNSET}
        if not all(map(is_plain, found.values())):
            raise CannotSleep
        return shape.key, parent, None, found
