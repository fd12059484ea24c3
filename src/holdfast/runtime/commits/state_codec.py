"""States and journal segments as bytes: MessagePack of JSON-able data; the codec of the store wraps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from holdfast.execution.branches.branch_writer import may_sleep
from holdfast.execution.heap import HeapBook, HeapPages, object_codec
from holdfast.execution.journal import RawEntry
from holdfast.execution.lazy_values import LazyValue
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.state_reader import read_instance
from holdfast.execution.state_writer import frames_of, write_state
from holdfast.model import values
from holdfast.model.instance import JournalEntry, JournalEvent, moment
from holdfast.ports import Services
from holdfast.runtime.commits.large_values import Packed, pack_state, unpack_state

_EVENTS = tuple(JournalEvent)
_CODES: dict[str, int] = {event.value: code for code, event in enumerate(_EVENTS)}

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def encode_state(live: LiveInstance) -> Packed:
    """The state, and the large values that it refers to.

    Columns of the instance row hold the pinned content and the format, so the state does not repeat them.
    """
    lazy: list[LazyValue] = []
    pages = _pages(live)
    try:
        return pack_state(write_state(live, lazy, pages=pages), lazy, pages)
    except (OverflowError, UnicodeEncodeError):  # An int beyond 64 bits or a lone surrogate.
        lazy, pages = [], _pages(live, whole=True)
        return pack_state(write_state(live, lazy, trusting=False, pages=pages), lazy, pages)


def _pages(live: LiveInstance, *, whole: bool = False) -> HeapPages | None:
    """Pages of large variables and sleeping branches; None for most instances, which have no compiled functions."""
    frames = frames_of(live.plan)
    if live.heap is None and not frames.exist and not may_sleep(live):
        return None
    return HeapPages(live.heap, object_codec(live.plan.types, frames.references), whole=whole)


def decode_state(
    data: bytes,
    plan: Plan,
    now: Callable[[], int],
    services: Services,
    values: Mapping[str, bytes],
    heap: HeapBook | None = None,
    *,
    whole: bool = True,
) -> LiveInstance:
    """`plan` is the plan of the content that the row pins; `values` are the large values that the state refers to. With
    `heap`, the large variables that are in memory, the pages of these variables may be missing. Unless `whole`, branches
    of wide containers sleep until they are used."""
    known = values if heap is None else {**values, **heap.fresh}
    live = read_instance(unpack_state(data, known), plan, now, services, heap=heap)
    if whole and live.asleep is not None:
        live.asleep.wake_all()
    return live


# -- journal -----------------------------------------------------------------------------------------------------------


def encode_journal(plan: Plan, entries: Sequence[RawEntry]) -> bytes:
    """Encode the journal entries of a segment. Times are relative to the first entry. Activities are positions in the plan,
    with a table of their keys: positions may change between compilations.

    Journal data is plain (see `execution.journal.captured`) and packed directly. Only if packing fails (an int beyond 64 bits, a
    lone surrogate), the data is encoded as typed values.
    """
    if not entries:
        return b""
    codes, first = _CODES, entries[0][3]
    table = _whole_table(plan) if len(entries) >= len(plan.nodes) else _table(plan, entries)
    rows = [(codes[event], place, execution, at - first, data) for event, place, execution, at, data in entries]
    try:
        return _pack((table, first, rows, False))
    except (OverflowError, TypeError, UnicodeEncodeError):
        typed = [(*row[:4], values.encode(row[4], plan.types)) for row in rows]
        return _pack((table, first, typed, True))


def _table(plan: Plan, entries: Sequence[RawEntry]) -> dict[int, str | None]:
    keys = plan.keys
    return {place: keys[place] for entry in entries for place in (entry[1],)}


def _whole_table(plan: Plan) -> msgspec.Raw:
    """The table of all keys of a plan, packed once, for segments with at least as many entries as the plan has nodes."""
    packed: msgspec.Raw | None = plan.packed_keys
    if packed is None:
        packed = plan.packed_keys = msgspec.Raw(_pack(plan.keys))
    return packed


def decode_journal(data: bytes, plan: Plan, first: int) -> list[JournalEntry]:
    if not data:
        return []
    keys, began, rows, typed = _unpack(data)
    entries = []
    for offset, (code, place, execution_id, later, value) in enumerate(rows):
        key = keys[place]
        node = None if key is None else plan.by_key.get(key)
        entries.append(
            JournalEntry(
                sequence=first + offset,
                event=_EVENTS[code],
                at=moment(began + later),
                activity_id=key,
                activity_type=node.definition.type if node else None,
                activity_name=node.definition.name if node else None,
                execution_id=execution_id or None,
                data=values.decode(value, plan.types) if typed else value,
            )
        )
    return entries
