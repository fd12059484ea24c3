"""Answers to HTTP requests: a record for requests of other bursts, nothing for requests of this one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec

from holdfast.model.replies import REPLY, REPLY_RETENTION, HttpReply
from holdfast.runtime.commits.reply_rows import reply_records
from holdfast.testing.store_rows import AT

OK, GONE = HttpReply(body=b"ok"), HttpReply(status=410)


def live(replies: dict[str, HttpReply], *own: str) -> Any:
    """The part of an instance that the function reads."""
    return SimpleNamespace(id="i", replies=replies, http_requests=frozenset(own))


def test_an_answer_to_an_earlier_request_is_a_record_with_a_retention() -> None:
    (row,) = reply_records("acme", live({"r1": GONE}), AT)

    assert (row.tenant, row.kind, row.id, row.instance_id, row.due) == ("acme", REPLY, "r1", "i", AT + REPLY_RETENTION)
    assert msgspec.msgpack.decode(row.payload, type=HttpReply) == GONE


def test_an_answer_to_a_request_of_this_burst_is_handed_over_in_memory() -> None:
    found = reply_records("", live({"r1": OK, "r2": GONE}, "r1"), AT)

    assert [row.id for row in found] == ["r2"]
