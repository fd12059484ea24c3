"""Idempotency keys of requests that concern no single instance: a record per key says that it was accepted, and with what.

A key of a start or of one instance is a guard row of that instance (rule M4). A stimulus or a resume of many has none, so its key
is a record: inserted once, and in the same transaction the work that was asked for is put on the table. Whoever finds the record
may rely on it that the work was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from holdfast.errors import KeyReused
from holdfast.model.record_rows import RecordRow
from holdfast.runtime.stimuli.inbox_expiry import KEPT, RECEIPT

if TYPE_CHECKING:
    from holdfast.model.guard import Guard
    from holdfast.model.work import WorkRow
    from holdfast.runtime.cluster.node import Node


class Accepted(Struct, frozen=True, kw_only=True):
    fingerprint: str
    instance_ids: tuple[str, ...] = ()


_read = msgspec.json.Decoder(Accepted).decode


def id_of(guard: Guard) -> str:
    """What the key's work is called: the same, however often it is asked for."""
    return f"k{blake2b(guard.name.encode(), digest_size=14).hexdigest()}"


async def find(node: Node, guard: Guard) -> Accepted | None:
    row = await node.store.get_record(node.tenant, RECEIPT, id_of(guard))
    if row is None:
        return None
    found = _read(row.payload)
    if found.fingerprint != guard.fingerprint:
        raise KeyReused(guard.name)
    return found


async def put(node: Node, guard: Guard, rows: Sequence[WorkRow] = (), instance_ids: tuple[str, ...] = ()) -> bool:
    """With the work that was asked for: both or neither. True for the first; False if the same request was accepted before.
    Raises `KeyReused` for another one."""
    now = node.clock.now()
    accepted = Accepted(fingerprint=guard.fingerprint, instance_ids=instance_ids)
    row = RecordRow(
        tenant=node.tenant,
        kind=RECEIPT,
        id=id_of(guard),
        due=now + KEPT,
        created=now,
        updated=now,
        payload=msgspec.json.encode(accepted),
    )
    if await node.store.put_record(row, rows):
        return True
    await find(node, guard)
    return False
