"""Events sent to the instance of a harness, addressed as in the runtime (rule H12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.activities.code.waits import TIMED_OUT
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind


@dataclass(slots=True, eq=False)
class SentEvent:
    """One event that was sent."""

    name: str
    payload: Any
    key: Any = None
    broadcast: bool = False
    seen_by: set[str] = field(default_factory=set)
    """Ids of the bookmarks that have received a broadcast."""

    def fits(self, bookmark: Bookmark) -> bool:
        """Whether a bookmark receives the event: by name, by name and key, or as a broadcast."""
        address = bookmark.payload
        if not isinstance(address, dict) or address.get("event_name") != self.name or bookmark.id in self.seen_by:
            return False
        if self.key is not None:
            return "key" in address and stimulus_hash(address["key"]) == stimulus_hash(self.key)
        if self.broadcast:
            return "key" not in address and "instance" not in address
        return True


def name_of(bookmark: Bookmark) -> str | None:
    """Display name of a wait; None for a timeout."""
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
