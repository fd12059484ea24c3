"""Work for people: a bookmark, and a record that stands in somebody's list until it is answered."""

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
    """Asks a person, or whoever has a role, to fill in a form, and waits for the answer."""

    title: str = ""
    description: str = field(default="", kw_only=True)
    assignee: str | None = field(default=None, kw_only=True)
    """Who is asked: a user's name, or `role:name`."""
    role: str | None = field(default=None, kw_only=True)
    """Whoever has this role; without an assignee and a role anybody may answer."""
    form: Any = field(default=None, kw_only=True)
    """JSON Schema of the answer, or a class of data; without one any answer will do."""
    about: Any = field(default=None, kw_only=True)
    """Data that is shown with the form."""
    due: Any = field(default=None, kw_only=True)
    """Until when: a moment, or a duration from now. It is shown; nothing happens by itself."""
    task_id: str = output()
    completed_by: str = output()
    result: Any = output()

    def __init__(self, title: Any = "", **given: Any) -> None:
        form = given.get("form")
        if isinstance(form, type):
            given["form"] = literal(form_of(form))
        elif isinstance(form, Mapping):
            given["form"] = literal(dict(form))  # `$ref` in it is not ours to read.
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
    """As JSON: people see it, and lists read it without the workflow's types."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_others)


def _others(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if dump is not None else str(value)


ACTIVITIES = (HumanTask,)
