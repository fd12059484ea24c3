"""Events on their way to the instance of a harness, addressed as the runtime addresses them (rule H12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.activities.code.waits import TIMED_OUT
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind


@dataclass(slots=True, eq=False)
class Letter:
    """One event that was sent."""

    name: str
    payload: Any
    key: Any = None
    broadcast: bool = False
    seen_by: set[str] = field(default_factory=set)
    """Of a broadcast: the bookmarks that have had it."""

    def fits(self, bookmark: Bookmark) -> bool:
        """Without an address: any wait for that name. To a key: a wait for that key. To everyone: a wait for that."""
        address = bookmark.payload
        if not isinstance(address, dict) or address.get("event_name") != self.name or bookmark.id in self.seen_by:
            return False
        if self.key is not None:
            return "key" in address and stimulus_hash(address["key"]) == stimulus_hash(self.key)
        if self.broadcast:
            return "key" not in address and "instance" not in address
        return True


def name_of(bookmark: Bookmark) -> str | None:
    """What a test calls this wait; None for the end of somebody's patience."""
    payload = bookmark.payload if isinstance(bookmark.payload, dict) else {}
    if bookmark.name == TIMED_OUT:
        return None
    if bookmark.kind is BookmarkKind.RETRY:
        return f"retry of {bookmark.activity_id}"
    if "event_name" in payload:
        return str(payload["event_name"])
    if "task_id" in payload:
        return str(bookmark.metadata.get("task_name", "ask"))
    return "sleep" if bookmark.name == "Delay" else bookmark.name
