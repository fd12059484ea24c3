"""Answers to HTTP requests in a commit (rule M13: commit first, answer after).

An answer to a request that started this burst is handed over in memory after the commit. Every other answer is stored as a
record, since another node may hold the HTTP request.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from holdfast.execution.live import LiveInstance
from holdfast.model.record_rows import RecordRow
from holdfast.model.replies import REPLY, REPLY_RETENTION


def reply_records(tenant: str, live: LiveInstance, now: datetime) -> tuple[RecordRow, ...]:
    return tuple(
        RecordRow(
            tenant=tenant,
            kind=REPLY,
            id=request,
            instance_id=live.id,
            due=now + REPLY_RETENTION,
            created=now,
            updated=now,
            payload=msgspec.msgpack.encode(reply),
        )
        for request, reply in live.replies.items()
        if request not in live.http_requests
    )
