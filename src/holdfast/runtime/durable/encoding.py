"""What a store keeps as bytes: states, journal segments, payloads. MessagePack of JSON-able data; the store's codec wraps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from holdfast.execution import snapshot
from holdfast.execution.journal import RawEntry
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.model import values
from holdfast.model.instance import JournalEntry, JournalEvent, moment
from holdfast.model.values import TypeRegistry
from holdfast.ports import Services
from holdfast.runtime.durable.large_values import Packed, pack_state, unpack_state

_EVENTS = tuple(JournalEvent)
"""Stored by position: new events are added at the end of the enumeration only."""
_CODES: dict[str, int] = {event.value: code for code, event in enumerate(_EVENTS)}

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def encode_state(live: LiveInstance) -> Packed:
    """The state, and the large values that it refers to.

    Without what the instance's row says already: the content that it pins, and the format, which the row's column has.
    """
    document = snapshot.dump(live, journal=False)
    del document["format"], document["definition"]
    return pack_state(document)


def decode_state(
    data: bytes, plan: Plan, now: Callable[[], int], services: Services, values: Mapping[str, bytes]
) -> LiveInstance:
    """`plan` is that of the content that the row pins, `values` are those that the state refers to."""
    document = unpack_state(data, values)
    document["format"], document["definition"] = snapshot.FORMAT, {"hash": plan.content_hash}
    return snapshot.load(document, plan, now, services)


def encode_payload(payload: Any, types: TypeRegistry | None = None) -> bytes:
    return _pack(values.encode(payload, types))


def decode_payload(data: bytes, types: TypeRegistry) -> Any:
    return values.decode(_unpack(data), types) if data else None


# -- journal -----------------------------------------------------------------------------------------------------------


def encode_journal(plan: Plan, entries: Iterable[RawEntry]) -> bytes:
    """Times as differences, activities as positions in a table of their own keys: a plan's positions may change.

    What the journal keeps is plain already (see `execution.journal.kept`), so it is packed as it is; only where that fails
    (an int beyond 64 bits) it goes the long way through typed values.
    """
    keys: dict[int, int] = {}
    rows = []
    last = 0
    for event, index, execution_id, at, data in entries:
        key = -1 if index < 0 else keys.setdefault(index, len(keys))
        rows.append((_CODES[event], key, execution_id, at - last, data))
        last = at
    names = tuple(plan.nodes[index].key for index in keys)
    try:
        return _pack((0, names, rows))
    except (OverflowError, TypeError):
        return _pack((1, names, [(*row[:4], values.encode(row[4], plan.types)) for row in rows]))


def decode_journal(data: bytes, plan: Plan, first: int) -> list[JournalEntry]:
    if not data:
        return []
    typed, keys, rows = _unpack(data)
    entries = []
    at = 0
    for offset, (code, key, execution_id, delta, value) in enumerate(rows):
        at += delta
        node = plan.by_key.get(keys[key]) if key >= 0 else None
        entries.append(
            JournalEntry(
                sequence=first + offset,
                event=_EVENTS[code],
                at=moment(at),
                activity_id=keys[key] if key >= 0 else None,
                activity_type=node.definition.type if node else None,
                activity_name=node.definition.name if node else None,
                execution_id=execution_id or None,
                data=values.decode(value, plan.types) if typed else value,
            )
        )
    return entries
