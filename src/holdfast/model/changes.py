"""Changes of a store, as hints for components that wait for rows (rule M9).

A change names topics: queues that got work rows, and a few kinds of rows that services wait for. A hint may be late, merged with
others, or lost. So every component that waits for hints also looks at its rows from time to time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.model.commit import Commit
from holdfast.model.work import WorkRow

EFFECTS = "effects"
"""Effects were canceled or dropped, or have another owner: nodes that run them should look."""
SCHEDULES = "schedules"
OUTBOX = "outbox"
DEFINITIONS = "definitions"

_QUEUE = "queue:"


def queue_topic(queue: str) -> str:
    """The topic of a queue, by its stored name (tenant included)."""
    return _QUEUE + queue


class Change(Struct, frozen=True, kw_only=True):
    topics: frozenset[str] | None = frozenset()
    """None: unknown, so every component should look."""
    rows: tuple[WorkRow, ...] = ()
    """The work rows that this process wrote; empty for a change by another process."""
    commits: Sequence[Commit] = ()
    """The commits that this process sent. A commit whose guards did not hold is among them."""
    elsewhere: bool = False
    """Another process wrote, or may have written."""

    def concerns(self, topic: str) -> bool:
        return self.topics is None or topic in self.topics


NO_TOPIC = Change()
"""A write of this process that no service waits for."""
UNKNOWN = Change(topics=None, elsewhere=True)
"""Another process may have written anything."""


def of_topic(topic: str) -> Change:
    return Change(topics=frozenset({topic}))


def of_rows(rows: Iterable[WorkRow]) -> Change:
    """Work rows were added, or have another due time."""
    found = tuple(rows)
    return Change(topics=frozenset(queue_topic(row.queue) for row in found), rows=found)


def of_commits(batch: Sequence[Commit]) -> Change:
    topics: set[str] = set()
    rows: list[WorkRow] = []
    for commit in batch:
        if commit.work_added:
            rows += commit.work_added
        if commit.effects_dropped or commit.effects_canceled:
            topics.add(EFFECTS)
        if commit.outbox_added:
            topics.add(OUTBOX)
    if not rows and not topics:
        return Change(commits=batch)
    topics.update(queue_topic(row.queue) for row in rows)
    return Change(topics=frozenset(topics), rows=tuple(rows), commits=batch)


def merged(changes: Iterable[Change]) -> Change:
    """One change for several writes of this process."""
    topics: set[str] | None = set()
    rows: list[WorkRow] = []
    commits: list[Commit] = []
    for change in changes:
        rows += change.rows
        commits += change.commits
        topics = None if topics is None or change.topics is None else topics | change.topics
    return Change(topics=None if topics is None else frozenset(topics), rows=tuple(rows), commits=commits)
