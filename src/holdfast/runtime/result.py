"""The result of a run. It is a value: resuming it returns a new result and does not change the old one."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.execution import snapshot
from holdfast.execution.composite import UNSET
from holdfast.execution.journal import readable
from holdfast.execution.live import LiveInstance
from holdfast.execution.properties import visible
from holdfast.model.definition import Definition
from holdfast.model.instance import Bookmark, BookmarkKind, Incident, JournalEntry, Status
from holdfast.model.scope import Scope

_OPEN_TO_OTHERS = (BookmarkKind.ACTIVITY, BookmarkKind.RETRY)


class RunResult(Struct, eq=False):
    """An instance after a burst: its status, outputs, bookmarks, incidents and journal, and the state to continue from."""

    _live: LiveInstance
    lines: list[str]
    """Lines that WriteLine has written since the instance started, or since its state was imported."""
    children: dict[str, RunResult]
    """Children that this instance waits for, by the bookmark that waits."""
    _state: dict[str, Any] | None = None

    @property
    def instance_id(self) -> str:
        return self._live.id

    @property
    def definition(self) -> Definition:
        return self._live.plan.definition

    @property
    def status(self) -> Status:
        return self._live.status

    @property
    def correlation_id(self) -> str | None:
        return self._live.correlation_id

    @property
    def name(self) -> str | None:
        return self._live.name

    @property
    def outcome(self) -> Any:
        """The outcomes with which the workflow completed; None if it named none."""
        return self._live.outcome

    @property
    def outputs(self) -> dict[str, Any]:
        scope = self._live.root.scope
        declared = {name: scope[slot] for name, slot in scope[1].outputs.items() if scope[slot] is not UNSET}
        return {**declared, **self._live.spare_outputs}

    @property
    def variables(self) -> dict[str, Any]:
        scope: Scope = self._live.root.scope
        return {name: scope[slot] for name, slot in scope[1].names.items()}

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the instance, set by its starter and its activities."""
        return visible(self._live.properties)

    @property
    def bookmarks(self) -> list[Bookmark]:
        """Open bookmarks, oldest first; bookmarks of children have ids such as `<child>/b1`."""
        if self.status.at_rest:
            return []
        own = [item for item in self._live.bookmarks.values() if item.kind in _OPEN_TO_OTHERS]
        return own + [_within(child, item) for child in self.children.values() for item in child.bookmarks]

    @property
    def incidents(self) -> list[Incident]:
        return list(self._live.incidents)

    @property
    def error(self) -> BaseException | None:
        """The exception behind the last incident, if it happened in this burst."""
        return self._live.error

    @property
    def journal(self) -> list[JournalEntry]:
        return readable(self._live.plan, self._live.journal, self._live.journal_base)

    @property
    def published(self) -> list[dict[str, Any]]:
        """Events that the instance published and that no bookmark of this process took."""
        return list(self._live.published)

    @property
    def commits(self) -> int:
        """Number of committed segments."""
        return self._live.commits

    @property
    def state(self) -> dict[str, Any]:
        """The whole instance as JSON-able data: `Runner.load` continues from it, in any process."""
        if self._state is None:
            children = {
                key: {"state": child.state, "definition": child.definition.id} for key, child in self.children.items()
            }
            self._state = {**snapshot.dump(self._live), "children": children}
        return self._state

    def bookmark(self, activity_id: str) -> Bookmark:
        """The first open bookmark of an activity."""
        for item in self.bookmarks:
            if item.activity_id == activity_id:
                return item
        waiting = ", ".join(item.activity_id for item in self.bookmarks) or "nothing"
        raise LookupError(f"'{activity_id}' does not wait at a bookmark; waiting: {waiting}.")

    def __repr__(self) -> str:
        return f"<RunResult {self.instance_id} {self.status}>"


def _within(child: RunResult, bookmark: Bookmark) -> Bookmark:
    return replace(bookmark, id=f"{child.instance_id}/{bookmark.id}")
