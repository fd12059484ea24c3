"""What an instance's state consists of where it is written down: in a store, in a file, in JSON.

Names and numbers instead of objects: activities and scopes by their keys in the definition, scopes and activations by number.
What is at its default is not written, since most of a state is. Values of users are encoded already (`model.values`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.model.instance import Bookmark, Status


class ActivationState(Struct, omit_defaults=True):
    id: int
    node: str
    outer: int
    scope: int | None = None
    """None: it opened none of its own, so its children run in `outer`."""
    owner: int | None = None
    status: int = 0
    flags: int = 0
    attempt: int = 1
    bookmarks: list[str] | None = None
    data: Any = None


class ScopeState(Struct, omit_defaults=True):
    """Scopes are shared (branches of a fork see the same variables), so each is written once and referred to by number."""

    shape: str
    parent: int | None = None
    frame: int | None = None
    """Its variables stand in the heap, under this number."""
    values: dict[str, Any] = {}


class EffectState(Struct):
    execution_id: int
    activity_id: str
    attempt: int
    inputs: Any
    method: str
    argument: Any


class State(Struct, kw_only=True, omit_defaults=True):
    id: str
    status: Status
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    trace: str | None = None
    flowchart_mode: str = "counter"
    trigger: str | None = None
    trigger_open: bool = False
    trigger_payload: Any = None
    sequence: int = 0
    waited_at: int = 0
    bookmark_count: int = 0
    journal_base: int = 0
    commits: int = 0
    fault_pending: bool = False
    stopping: str | None = None
    created: int = 0
    outcome: Any = None
    scopes: list[ScopeState]
    activations: list[ActivationState]
    """Owners before those whom they own."""
    queue: list[tuple[str, int, int]] = []
    """Activity, owner, scope."""
    bookmarks: list[Bookmark] = []
    effects: list[EffectState] = []
    child_starts: list[dict[str, Any]] = []
    compensations: list[tuple[int, str, str, int]] = []
    incidents: list[dict[str, Any]] = []
    results: Any = {}
    spare_outputs: Any = {}
    published: Any = []
    properties: Any = {}
    heap: Any = None
    journal: list[tuple[str, int, int, int, Any]] = []
    """Only where the journal goes with the state, and not to a table of its own."""
