"""A live instance as JSON, and back: between any two segments, on any machine, with the same continuation.

Scopes are shared (branches of a fork see the same variables), so each is written once and referred to by number. Activities
and scopes are named by their keys in the definition, not by positions in a plan: a plan that is compiled again, elsewhere,
finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from holdfast.errors import InvalidState
from holdfast.execution.activation import RUNNING, Activation
from holdfast.execution.composite import UNSET
from holdfast.execution.discretion import permitted
from holdfast.execution.frames import LOST, FrameShape
from holdfast.execution.heap import read_heap, write_heap
from holdfast.execution.live import ChildStart, Compensation, LiveInstance
from holdfast.execution.plan import Node, Plan
from holdfast.execution.record import EffectRequest, argument_data, argument_of
from holdfast.model import values
from holdfast.model.instance import Bookmark, Incident, JournalEvent, Status
from holdfast.model.scope import FIRST_SLOT, Scope, Shape
from holdfast.ports import Services

FORMAT = "holdfast/instance@1"

CLEANUP, ROOT = 0, 1
"""Execution ids that every instance has."""

_PLAIN_FIELDS: dict[str, tuple[Any, Any]] = {
    "correlation_id": (str | None, None),
    "name": (str | None, None),
    "parent_id": (str | None, None),
    "principal": (str | None, None),
    "trace": (str | None, None),
    "flowchart_mode": (str, "counter"),
    "trigger": (str | None, None),
    "trigger_open": (bool, False),
    "sequence": (int, 0),
    "waited_at": (int, 0),
    "bookmark_count": (int, 0),
    "journal_base": (int, 0),
    "commits": (int, 0),
    "fault_pending": (bool, False),
    "stopping": (str | None, None),
    "created": (int, 0),
}
"""Type and default: what is at its default is not written, since most of a state is."""

_INT_MAX = 1 << 63


def dump(live: LiveInstance, *, journal: bool = True) -> dict[str, Any]:
    """The whole instance as JSON-able data."""
    return _Writer(live).document(journal=journal)


class _Writer:
    def __init__(self, live: LiveInstance) -> None:
        self.live = live
        self.types = live.plan.types
        self.scopes: list[dict[str, Any]] = []
        self.numbers: dict[int, int] = {}
        self.frames: list[dict[str, Any]] = []
        """Variables of compiled functions: written together, since they may share objects (rule M17)."""

    def document(self, *, journal: bool) -> dict[str, Any]:
        live, plan = self.live, self.live.plan
        everyone = [found for top in (live.root, live.cleanup, *live.leftovers) for found in (top, *top.descendants())]
        definition = plan.definition
        body: dict[str, Any] = {
            "format": FORMAT,
            "id": live.id,
            "status": live.status.value,
            "definition": {
                "id": definition.id,
                "version": definition.version,
                "hash": plan.content_hash,
                "parts": dict(plan.parts),
            },
        }
        for name, (_, default) in _PLAIN_FIELDS.items():
            value = getattr(live, name)
            if value != default:
                body[name] = value
        body["activations"] = [
            self.activation(item) for item in everyone if item is not live.cleanup or item.data or item.kids
        ]
        self._add_waits(body)
        body["scopes"] = self.scopes
        if self.frames:
            body["heap"] = write_heap(self.frames, self.types, references(plan))
        if journal:
            kept = permitted(plan.journal_rules, live.journal)
            body["journal"] = [[str(e), i, n, at, self.value(data)] for e, i, n, at, data in kept]
        return body

    def _add_waits(self, body: dict[str, Any]) -> None:
        """What most instances have none of is written only where there is some."""
        live = self.live
        if live.trigger_payload is not None:
            body["trigger_payload"] = self.value(live.trigger_payload)
        if live.outcome is not None:
            body["outcome"] = list(live.outcome) if isinstance(live.outcome, tuple) else live.outcome
        if live.queue:
            body["queue"] = [[node.key, owner.id, self.scope(scope)] for node, owner, scope in live.queue]
        if live.bookmarks:
            body["bookmarks"] = [self.bookmark(item) for item in live.bookmarks.values()]
        if live.effects:
            body["effects"] = [self.effect(item) for item in live.effects.values()]
        if live.child_starts:
            body["child_starts"] = [self.child_start(item) for item in live.child_starts]
        if live.compensations:
            body["compensations"] = [
                [item.execution_id, item.name, item.node.key, self.scope(item.scope)] for item in live.compensations
            ]
        if live.incidents:
            body["incidents"] = [msgspec.to_builtins(item) for item in live.incidents]
        for name in ("results", "spare_outputs", "published", "properties"):
            found = getattr(live, name)
            if found:
                body[name] = self.value(found)

    def value(self, value: Any) -> Any:
        kind = value.__class__
        if kind is str or kind is bool or value is None or (kind is int and -_INT_MAX <= value < _INT_MAX):
            return value
        return values.encode(value, self.types)

    def scope(self, scope: Scope) -> int:
        number = self.numbers.get(id(scope))
        if number is not None:
            return number
        parent = self.scope(scope[0]) if scope[0].__class__ is list else None
        number = self.numbers[id(scope)] = len(self.scopes)
        shape: Shape = scope[1]
        entry: dict[str, Any] = {"shape": shape.key}
        self.scopes.append(entry)
        if parent is not None:
            entry["parent"] = parent
        defaults = shape.defaults
        found = {
            label: scope[index]
            for label, index in slots(shape)
            if scope[index] is not UNSET and scope[index] is not defaults[index - FIRST_SLOT]
        }
        if isinstance(shape, FrameShape):
            entry["frame"] = len(self.frames)
            self.frames.append(found)
        elif found:
            entry["values"] = {label: self.value(value) for label, value in found.items()}
        return number

    def activation(self, item: Activation) -> dict[str, Any]:
        dump_data = item.node.hooks.dump
        if item is self.live.cleanup:
            data: Any = [[node.key, self.scope(scope)] for node, scope in item.data]
        else:
            data = dump_data(item.data) if dump_data is not None else self.value(item.data)
        entry: dict[str, Any] = {"id": item.id, "node": item.node.key, "outer": self.scope(item.outer)}
        if item.scope is not item.outer:
            entry["scope"] = self.scope(item.scope)
        if item.owner is not None:
            entry["owner"] = item.owner.id
        if item.status:
            entry["status"] = item.status
        if item.flags:
            entry["flags"] = item.flags
        if item.attempt != 1:
            entry["attempt"] = item.attempt
        if item.bookmarks is not None:
            entry["bookmarks"] = list(item.bookmarks)
        if data is not None:
            entry["data"] = data
        return entry

    def bookmark(self, item: Bookmark) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(item, payload=None, metadata={}))
        if item.payload is not None:
            plain["payload"] = self.value(item.payload)
        if item.metadata:
            plain["metadata"] = self.value(dict(item.metadata))
        return plain

    def effect(self, item: EffectRequest) -> dict[str, Any]:
        return {
            "execution_id": item.execution_id,
            "activity_id": item.activity_id,
            "attempt": item.attempt,
            "inputs": self.value(item.inputs),
            "method": item.method,
            "argument": self.value(argument_data(item.argument)),
        }

    def child_start(self, item: ChildStart) -> dict[str, Any]:
        return {**{name: getattr(item, name) for name in ChildStart.__slots__}, "input": self.value(item.input)}


def slots(shape: Shape) -> list[tuple[str, int]]:
    """Every value of a shape with the label it is stored under."""
    if not shape.labels:
        shape.labels = [
            *shape.names.items(),
            *((f"in:{name}", index) for name, index in shape.inputs.items()),
            *((f"out:{name}", index) for name, index in shape.outputs.items()),
        ]
    return shape.labels


def references(plan: Plan) -> dict[str, Any]:
    """Modules, classes and functions that compiled functions of this plan refer to: their variables may hold them."""
    frames = [shape for shape in plan.shapes.values() if isinstance(shape, FrameShape)]
    return {name: found for frame in frames for name, found in frame.references.items()}


# -- and back ----------------------------------------------------------------------------------------------------------


def load(
    document: Mapping[str, Any],
    plan: Plan,
    now: Callable[[], int],
    services: Services,
    *,
    into: LiveInstance | None = None,
) -> LiveInstance:
    """Raises `InvalidState` for a document that does not fit the plan. `into` is made anew in place."""
    found = document.get("format") if isinstance(document, Mapping) else type(document).__name__
    if found != FORMAT:
        raise InvalidState(f"This is not an instance state ({FORMAT} is expected, not {found!r}).")
    try:
        _refuse_other_content(document["definition"], plan)
        return _Reader(document, plan, now, services, into).live
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidState(f"The state of instance {document.get('id')!r} is damaged: {error!r}.") from error


def _refuse_other_content(pinned: Mapping[str, Any], plan: Plan) -> None:
    if pinned["hash"] != plan.content_hash:
        raise InvalidState(
            f"This instance runs version {pinned['version']} of '{pinned['id']}' with other content than the definition given. "
            "Continue it with the definition that it was started with."
        )
    changed = [name for name, known in plan.parts.items() if pinned.get("parts", {}).get(name, known) != known]
    if changed:
        raise InvalidState(
            f"This instance of '{pinned['id']}' uses {', '.join(changed)} as an activity, with other content than the one "
            "given now. Continue it with the definitions that it was started with."
        )


class _Reader:
    def __init__(
        self,
        document: Mapping[str, Any],
        plan: Plan,
        now: Callable[[], int],
        services: Services,
        into: LiveInstance | None,
    ) -> None:
        self.plan = plan
        self.live = live = into or LiveInstance.__new__(LiveInstance)
        LiveInstance.__init__(live, plan, document["id"], now, services)
        heap = document.get("heap")
        self.frames = read_heap(heap, plan.types, references(plan)) if heap else []
        self.scopes = self._read_scopes(document["scopes"])
        self.activations: dict[int, Activation] = {}
        for name, (kind, default) in _PLAIN_FIELDS.items():
            setattr(live, name, msgspec.convert(document[name], kind) if name in document else default)
        live.status = Status(document["status"])
        live.trigger_payload = self.value(document.get("trigger_payload"))
        outcome = document.get("outcome")
        live.outcome = tuple(outcome) if isinstance(outcome, list) else outcome
        self._read_activations(document["activations"])
        for key, owner, scope in document.get("queue", ()):
            live.queue.append((self.node(key), self.activations[owner], self.scopes[scope]))
        self._read_waits(document)
        for execution_id, name, key, scope in document.get("compensations", ()):
            live.compensations.append(Compensation(execution_id, name, self.node(key), self.scopes[scope]))
        live.incidents = [msgspec.convert(item, Incident) for item in document.get("incidents", ())]
        live.results = self.value(document.get("results", {}))
        live.spare_outputs = self.value(document.get("spare_outputs", {}))
        live.published = self.value(document.get("published", []))
        live.properties = self.value(document.get("properties", {}))
        live.journal = [
            (JournalEvent(event), index, n, at, self.value(data))
            for event, index, n, at, data in document.get("journal", ())
        ]

    def value(self, data: Any) -> Any:
        return values.decode(data, self.plan.types)

    def node(self, key: str) -> Node:
        return self.plan.by_key[key]

    def _read_scopes(self, stored: list[dict[str, Any]]) -> list[Scope]:
        scopes: list[Scope] = []
        for item in stored:
            shape = self.plan.shapes[item["shape"]]
            parent = item.get("parent")
            scope = self.live.open_scope(shape) if parent is None else shape.open(scopes[parent])
            places = dict(slots(shape))
            for label, data in item.get("values", {}).items():
                scope[places[label]] = self.value(data)
            if "frame" in item:
                kept, lost = self.frames[item["frame"]]
                for label, value in kept.items():
                    scope[places[label]] = value
                if lost:
                    scope[places[LOST]] = lost
            scopes.append(scope)
        return scopes

    def _read_activations(self, stored: list[dict[str, Any]]) -> None:
        for item in stored:
            owner = self.activations[item["owner"]] if "owner" in item else None
            node = self.node(item["node"])
            outer = self.scopes[item["outer"]]
            scope = self.scopes[item["scope"]] if "scope" in item else outer
            activation = Activation(item["id"], node, owner, outer, scope)
            activation.status, activation.flags = item.get("status", RUNNING), item.get("flags", 0)
            activation.attempt = item.get("attempt", 1)
            activation.bookmarks = list(item["bookmarks"]) if "bookmarks" in item else None
            self.activations[activation.id] = activation
            if owner is None:
                self._read_top(activation, item)
                continue
            load_data = node.hooks.load
            plain = item.get("data")
            activation.data = load_data(plain, activation) if load_data is not None else self.value(plain)
            owner.kids = owner.kids or {}
            owner.kids[activation.id] = activation
        root = self.activations.get(ROOT)
        if root is None:
            raise ValueError("there is no root")
        if CLEANUP not in self.activations:
            self.live.cleanup = Activation(CLEANUP, root.node, None, root.outer, root.scope)
            self.live.cleanup.data = []

    def _read_top(self, activation: Activation, item: dict[str, Any]) -> None:
        if activation.id == CLEANUP:
            self.live.cleanup = activation
            activation.data = [(self.node(key), self.scopes[scope]) for key, scope in item.get("data", ())]
            return
        activation.data = self.value(item.get("data"))
        if activation.id == ROOT:
            self.live.root = activation
        else:
            self.live.leftovers.append(activation)

    def _read_waits(self, document: Mapping[str, Any]) -> None:
        live = self.live
        for item in document.get("bookmarks", ()):
            plain = {**item, "payload": None, "metadata": {}}
            bookmark = msgspec.structs.replace(
                msgspec.convert(plain, Bookmark),
                payload=self.value(item.get("payload")),
                metadata=self.value(item.get("metadata", {})),
            )
            live.bookmarks[bookmark.id] = bookmark
            live.waiters[bookmark.execution_id] = self.activations[bookmark.execution_id]
        for item in document.get("effects", ()):
            request = EffectRequest(
                **{**item, "inputs": self.value(item["inputs"]), "argument": argument_of(self.value(item["argument"]))}
            )
            live.effects[request.execution_id] = request
            live.new_effects.append(request)
            live.waiters[request.execution_id] = self.activations[request.execution_id]
        for item in document.get("child_starts", ()):
            given = dict(item)
            execution_id, reference, child_input = given.pop("execution_id"), given.pop("reference"), given.pop("input")
            live.child_starts.append(ChildStart(execution_id, reference, self.value(child_input), **given))
