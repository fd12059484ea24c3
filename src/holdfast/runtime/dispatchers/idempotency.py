"""Idempotency keys of requests for several instances: a record per key says that the request was accepted.

The key of a start, or of a request for one instance, is a guard row of that instance (rule M4). A stimulus or a resume of many
instances has no such row, so its key is a record. The record is inserted once, in the transaction that adds the requested work
rows: where the record exists, the work was added.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b

import msgspec
from msgspec import Struct

from holdfast.errors import KeyReused
from holdfast.model.guard import Guard
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import InboxRow, WorkRow
from holdfast.ports import Store
from holdfast.runtime.stimuli.inbox_expiry import RECEIPT, RETENTION


class Accepted(Struct, frozen=True, kw_only=True):
    fingerprint: str
    instance_ids: tuple[str, ...] = ()


_read = msgspec.json.Decoder(Accepted).decode


def id_of(guard: Guard) -> str:
    """The id of the work of a key: the same for each repetition of the request."""
    return f"k{blake2b(guard.name.encode(), digest_size=14).hexdigest()}"


async def find(store: Store, tenant: str, guard: Guard) -> Accepted | None:
    """The accepted request of a key. Raises `KeyReused` if it was another request."""
    row = await store.get_record(tenant, RECEIPT, id_of(guard))
    if row is None:
        return None
    found = _read(row.payload)
    if found.fingerprint != guard.fingerprint:
        raise KeyReused(guard.name)
    return found


async def put(
    store: Store,
    tenant: str,
    now: datetime,
    guard: Guard,
    rows: Sequence[WorkRow] = (),
    instance_ids: tuple[str, ...] = (),
    inbox: Sequence[InboxRow] = (),
) -> bool:
    """Store the key together with the requested work rows or kept stimuli; False if the same request was accepted before. Raises
    `KeyReused` for another request."""
    accepted = Accepted(fingerprint=guard.fingerprint, instance_ids=instance_ids)
    row = RecordRow(
        tenant=tenant,
        kind=RECEIPT,
        id=id_of(guard),
        due=now + RETENTION,
        created=now,
        updated=now,
        payload=msgspec.json.encode(accepted),
    )
    if await store.put_record(row, rows, inbox):
        return True
    await find(store, tenant, guard)
    return False
