"""State: the stored form of an instance, with names and numbers instead of objects.

Activities and shapes are identified by their keys in the definition, scopes and activations by number. User values are
already encoded (`model.values`). States are written as arrays, because field names would double their size. People and
files get the same data with names (`state_document`). New fields go at the end of a class and have a default, because a
stored array may end before them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from holdfast.model.instance import BookmarkKind, Status


class ActivationState(Struct, array_like=True):
    id: int
    node: str
    outer: int
    scope: int | None = None
    """None: the activity opened no scope, so its children run in `outer`."""
    owner: int | None = None
    status: int = 0
    flags: int = 0
    attempt: int = 1
    bookmarks: list[str] | None = None
    data: Any = None


class ScopeState(Struct, array_like=True):
    """Scopes are shared (branches of a fork see the same variables), so each is written once and referenced by number."""

    shape: str
    parent: int | None = None
    frame: int | None = None
    """Number of the heap frame that holds its variables."""
    values: dict[str, Any] = {}


class BookmarkState(Struct, array_like=True):
    id: str
    name: str
    activity_id: str
    execution_id: int
    hash: bytes
    payload: Any = None
    kind: BookmarkKind = BookmarkKind.ACTIVITY
    due: datetime | None = None
    auto_burn: bool = True
    auto_complete: bool = True
    callback: str | None = None
    metadata: dict[str, Any] = {}


class EffectState(Struct, array_like=True):
    execution_id: int
    activity_id: str
    attempt: int
    inputs: Any = None
    """None: the inputs are stored with its activation."""
    method: str = "execute"
    argument: Any = None


class State(Struct, array_like=True):
    id: str
    scopes: list[ScopeState]
    activations: list[ActivationState]
    """Owners come before the activations they own."""
    status: Status
    created: int = 0
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    trace: str | None = None
    flowchart_mode: str = "counter"
    trigger: str | None = None
    trigger_open: bool = False
    sequence: int = 0
    waited_at: int = 0
    bookmark_count: int = 0
    journal_base: int = 0
    commits: int = 0
    fault_pending: bool = False
    stopping: str | None = None
    outcome: Any = None
    bookmarks: list[BookmarkState] = []
    queue: list[tuple[str, int, int]] = []
    """Activity, owner, scope."""
    effects: list[EffectState] = []
    trigger_payload: Any = None
    results: Any = {}
    spare_outputs: Any = {}
    published: Any = []
    properties: Any = {}
    heap: Any = None
    child_starts: list[dict[str, Any]] = []
    compensations: list[tuple[int, str, str, int]] = []
    incidents: list[dict[str, Any]] = []
    journal: list[tuple[str, int, int, int, Any]] = []
    """Only if the journal is stored with the state instead of in its own table."""
    home: str | None = None
    interrupted: list[tuple[int, int, str, int, Any, bool]] = []
    """Failed scope, execution, activity, attempt, inputs, whether it ran."""
    ending: list[tuple[int, str, int]] = []
    """Canceled effects that have not ended: execution, activity, attempt."""
    branches: int = 0
    """Number of the heap frame with the sleeping branches, counted from 1; 0: no branch sleeps."""
