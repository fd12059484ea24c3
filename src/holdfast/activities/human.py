"""Human tasks: a bookmark plus a task record that stays in the task list until a person answers it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, literal, output
from holdfast.errors import ActivityFault
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.forms import form_of
from holdfast.model.instance import Bookmark
from holdfast.model.scope import Scope
from holdfast.model.tasks import TASK, addressee
from holdfast.model.types import convert
from holdfast.model.values import shown


class HumanTask(Activity, pure=True, category="People", icon="user-check"):
    """Requests an answer to a form from a user or from members of a role, and waits for it."""

    title: str = ""
    """Title in the task list. Default: the name of the activity or of the workflow."""
    description: str = field(default="", kw_only=True)
    """Explanation that is shown with the task."""
    assignee: str | None = field(default=None, kw_only=True)
    """User name of the assignee, or `role:name`."""
    role: str | None = field(default=None, kw_only=True)
    """Role whose members may answer. Without an assignee and a role, any user may answer."""
    form: Any = field(default=None, kw_only=True)
    """JSON Schema of the answer, or a data class. Default: any answer is accepted."""
    about: Any = field(default=None, kw_only=True)
    """Data that is shown together with the form."""
    due: Any = field(default=None, kw_only=True)
    """Due date: a moment, or a duration from now. For display only; nothing happens when it passes."""
    task_id: str = output()
    """Id of the task."""
    completed_by: str = output()
    """User who answered."""
    result: Any = output()
    """The answer."""

    def __init__(self, title: Any = "", **given: Any) -> None:
        form = given.get("form")
        if isinstance(form, type):
            given["form"] = literal(form_of(form))
        elif isinstance(form, Mapping):
            given["form"] = literal(dict(form))  # Keep the schema literal: its `$ref` is not an expression.
        super().__init__(**({"title": title} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _TaskNode(builder).op


class _TaskNode:
    def __init__(self, builder: NodeBuilder) -> None:
        self.node = builder.node
        self.inputs = {
            name: builder.input(name) for name in ("title", "description", "assignee", "role", "form", "about", "due")
        }
        self.put_id, self.put_by, self.put = (builder.output(name) for name in ("task_id", "completed_by", "result"))
        self.node.hooks.resume = self.resume

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        given = {name: read(scope) for name, read in self.inputs.items()}
        assignee, role = addressee(str(given["assignee"])) if given["assignee"] else (None, None)
        activation = live.activate(self.node, owner, scope)
        definition = self.node.definition
        task = {
            "id": f"{live.id}-{activation.id}",
            "title": str(given["title"] or definition.name or live.plan.definition.title),
            "description": str(given["description"] or ""),
            "assignee": assignee,
            "role": role or given["role"] or None,
            "form": _form(given["form"]),
            "about": shown(given["about"]),
            "due": _due(given["due"], live.moment()),
        }
        self.put_id(live, scope, task["id"])
        live.bookmark(activation, NewBookmark(payload={"task_id": task["id"]}, metadata={TASK: task}))

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        self.put_by(live, activation.outer, bookmark.metadata[TASK].get("completed_by"))
        self.put(live, activation.outer, payload)
        live.complete(activation)


def _form(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ActivityFault(f"A form is a JSON Schema object, not {type(value).__name__}.", category="People")
    found: dict[str, Any] = plain(dict(value))
    return found


def _due(value: Any, now: datetime) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str) and value[:1] in "Pp":
        value = convert(value, "duration")
    moment: datetime = now + value if isinstance(value, timedelta) else convert(value, "datetime")
    return moment


def plain(value: Any) -> Any:
    """Convert to plain JSON data, so that task lists can read it without the workflow's types."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_others)


def _others(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if dump is not None else str(value)


ACTIVITIES = (HumanTask,)
