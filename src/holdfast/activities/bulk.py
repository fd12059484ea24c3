"""Bulk dispatch: one activity that starts many child instances and collects their results.

One bookmark serves all children. The start rows are part of the parent's commit (rule H9). Results that arrive together
share one commit: 10,000 children take about 80 commits. Results are stored in order of arrival, in chunks that never
change once full, so a commit writes only the last chunk (rule H14). On completion they are sorted into the order of the
items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.activities.control.loops import items_of
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output, port
from holdfast.errors import ActivityFault
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.execution.record import NewBookmark
from holdfast.model import values
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.scope import Names, Scope
from holdfast.model.types import convert
from holdfast.model.values import TypeRegistry

CHUNK = 128
PARTS_PER_LIST = 16
"""Maximum length of a list whose parts the state writer may store as separate rows."""
ITEM, CHILD = "item", "child"
NO_EXECUTION = 0
"""Execution id that no activation has: the child reports to no bookmark."""

Ended = list[Any]
"""`[position, status, outputs]` of one child that has ended; outputs are encoded."""


class BulkDispatchWorkflows(
    Activity,
    pure=True,
    container=True,
    category="Composition",
    icon="layers",
    outcomes=("Completed", "Done"),
):
    """Starts one instance of a workflow per item, at most `limit` at a time, and waits until all of them have ended."""

    workflow: str
    """Definition id or name of the workflow to start."""
    items: Any = field(default=(), evaluated=False)
    """Collection of items. Each item starts one instance."""
    item_input_key: str = ITEM
    """Name of the input that receives the item. An item that is an object is merged into the inputs instead."""
    input: dict[str, Any] | None = field(default=None, kw_only=True)
    """Inputs that every instance gets in addition to its item."""
    correlation_id: Any = field(default=None, kw_only=True, evaluated=False)
    """Correlation id, evaluated per item; the expression can use `item`. Default: the correlation id of this instance.
    """
    wait: bool = field(default=True, kw_only=True)
    """Wait until all instances have ended. Otherwise complete as soon as they are dispatched and the first has begun."""
    limit: int | None = field(default=None, kw_only=True)
    """Maximum number of instances that run at the same time. Default: no limit."""
    child_completed: Activity | None = port(variables=(CHILD,))
    """Runs for each instance that finished. `child` holds its position, instance_id, status and outputs."""
    child_faulted: Activity | None = port(variables=(CHILD,))
    """Runs for each instance that faulted, was canceled or could not be started. `child` is set as above."""
    results: list[Any] = output()
    """One `{"instance_id", "status", "outputs"}` per item, in the order of the items."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _Bulk(builder).op


class _Bulk:
    def __init__(self, builder: NodeBuilder) -> None:
        self.node: Node = builder.node
        self.workflow, self.items = builder.input("workflow"), builder.input("items", default=())
        self.key, self.input = builder.input("item_input_key", ITEM), builder.input("input")
        self.wait, self.limit = builder.input("wait", default=True), builder.input("limit")
        self.put = builder.output("results")
        shape = builder.shape("correlation", {ITEM: None})
        assert shape is not None
        self.shape = shape
        names = Names((shape, *builder.node.names.shapes))
        self.correlation = builder.compile(builder.definition.inputs.get("correlation_id"), "correlation_id", names)
        self.ports = {name: builder.child(name, self.port_done, variables={CHILD: None}) for name in _PORTS}
        self.port_shapes = {name: builder.shape(name, {CHILD: None}) for name in _PORTS}
        hooks = self.node.hooks
        hooks.resume, hooks.children, hooks.dump, hooks.load = self.resume, self.children, dump, load

    # -- start ---------------------------------------------------------------------------------------------------------

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        found = self.items(scope)
        items = [] if found is None else items_of(found)
        waits, limit = bool(self.wait(scope)), self.limit(scope)
        most = len(items) if limit is None or not waits else convert(limit, "integer")
        if most < 1 and items:
            raise ActivityFault(f"The limit of a BulkDispatchWorkflows must be at least 1, not {most}.")
        values.check(items, "items", live.plan.types)
        given = self.input(scope)
        activation = live.activate(self.node, owner, scope)
        activation.data = Progress(
            total=len(items),
            items=values.encode(items, live.plan.types),
            request={
                "workflow": str(self.workflow(scope)),
                "key": str(self.key(scope) or ITEM),
                "input": values.encode({} if given is None else dict(convert(given, "object")), live.plan.types),
                "wait": waits,
            },
        )
        if items:
            prefix = {"children": f"{live.id}-{activation.id}-"}
            live.bookmark(activation, NewBookmark(payload=prefix, auto_burn=False), BookmarkKind.CHILD)
            self.start(live, activation, most)
        else:
            self.put(live, scope, [])
            live.complete(activation, "Done")

    def start(self, live: LiveInstance, activation: Activation, count: int) -> None:
        """Add start rows for the next children to this segment's commit."""
        progress: Progress = activation.data
        request = progress.request
        shared = values.decode(request["input"], live.plan.types)
        starts = []
        for index in range(progress.next, min(progress.next + count, progress.total)):
            item = values.decode(progress.items[index], live.plan.types)
            own = item if isinstance(item, Mapping) else {request["key"]: item}
            correlation = self.correlation.evaluate([activation.outer, self.shape, item])
            reports = request["wait"] or not index  # The first start tells whether there is such a workflow.
            starts.append(
                ChildStart(
                    activation.id if reports else NO_EXECUTION,
                    request["workflow"],
                    {**shared, **own},
                    wait=request["wait"],
                    correlation_id=live.correlation_id if correlation is None else str(correlation),
                    instance_id=_child_id(live, activation, index),
                    detached=not request["wait"],
                )
            )
            progress.next = index + 1
        live.child_starts = (*live.child_starts, *starts)
        if progress.next == progress.total:
            progress.items = []

    def children(self, live: LiveInstance, activation: Activation) -> list[str]:
        progress: Progress = activation.data
        if not progress.request["wait"]:
            return []
        waiting = set(range(progress.next)) - progress.done
        return [_child_id(live, activation, index) for index in sorted(waiting)]

    # -- end -----------------------------------------------------------------------------------------------------------

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        progress: Progress = activation.data
        index = _position(bookmark, payload, progress.total)
        if index is None or index in progress.done:
            return  # A retried child reports its end a second time.
        refused = payload.get("refused")
        if payload.get("unknown"):
            raise ActivityFault(str(refused))  # None of the instances can start.
        status = "refused" if refused else str(payload["status"])
        outputs = {"error": str(refused)} if refused else payload["outputs"]
        if not progress.request["wait"]:
            self.dispatched(live, activation, {index: (status, outputs)} if refused else {})
            return
        progress.add([index, status, values.encode(outputs, live.plan.types)])
        name = _PORTS[0] if status == "finished" else _PORTS[1]
        handler, shape = self.ports[name], self.port_shapes[name]
        if handler is not None and shape is not None:
            progress.handling += 1
            child = {"position": index, **_report(live, activation, index, status, outputs)}
            live.queue.append((handler, activation, [activation.scope, shape, child]))
        self.start(live, activation, 1)
        self.end(live, activation)

    def dispatched(self, live: LiveInstance, activation: Activation, refused: Mapping[int, tuple[str, Any]]) -> None:
        """Complete without waiting for the ends."""
        results = [
            _report(live, activation, index, *refused.get(index, ("pending", {})))
            for index in range(activation.data.total)
        ]
        self.put(live, activation.outer, results)
        live.complete(activation, "Done")

    def port_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if not owner.status:
            owner.data.handling -= 1
            self.end(live, owner)

    def end(self, live: LiveInstance, activation: Activation) -> None:
        progress: Progress = activation.data
        if len(progress.done) < progress.total or progress.handling:
            return
        ordered: list[Any] = [None] * progress.total
        for index, status, outputs in progress.ended():
            ordered[index] = _report(live, activation, index, status, values.decode(outputs, live.plan.types))
        self.put(live, activation.outer, ordered)
        live.complete(activation, ("Completed", "Done"))


_PORTS = ("child_completed", "child_faulted")


class Progress:
    """Progress of a bulk dispatch. Inputs, items and outputs stay encoded until they are needed."""

    __slots__ = ("chunks", "done", "handling", "items", "next", "request", "total")

    def __init__(
        self,
        *,
        total: int,
        items: list[Any],
        request: dict[str, Any],
        next: int = 0,
        handling: int = 0,
        chunks: Sequence[Sequence[Ended]] = (),
    ) -> None:
        self.total = total
        self.items = items
        """Encoded items; emptied once all children are started."""
        self.request = request
        self.next = next
        """Position of the first child that is not started."""
        self.handling = handling
        """Number of port handlers that are running."""
        self.chunks: list[list[Ended]] = [list(chunk) for chunk in chunks]
        self.done: set[int] = {ended[0] for ended in self.ended()}

    def add(self, ended: Ended) -> None:
        if not self.chunks or len(self.chunks[-1]) == CHUNK:
            self.chunks.append([])
        self.chunks[-1].append(ended)
        self.done.add(ended[0])

    def ended(self) -> Iterable[Ended]:
        return (ended for chunk in self.chunks for ended in chunk)


def dump(progress: Progress, _types: TypeRegistry) -> dict[str, Any]:
    plain = {"total": progress.total, "next": progress.next, "request": progress.request}
    if progress.items:
        plain["items"] = progress.items
    if progress.handling:
        plain["handling"] = progress.handling
    if progress.chunks:
        chunks: list[Any] = [list(chunk) for chunk in progress.chunks]
        for _ in range(2):
            chunks = [chunks[at : at + PARTS_PER_LIST] for at in range(0, len(chunks), PARTS_PER_LIST)]
        plain["ended"] = chunks
    return plain


def load(plain: dict[str, Any], activation: Activation, _types: TypeRegistry) -> Progress:
    chunks: list[Any] = plain.get("ended", [])
    for _ in range(2):
        chunks = [part for parts in chunks for part in parts]
    given = {name: value for name, value in plain.items() if name != "ended"}
    return Progress(**{"items": [], **given}, chunks=chunks)


def _child_id(live: LiveInstance, activation: Activation, index: int) -> str:
    return f"{live.id}-{activation.id}-{index}"


def _position(bookmark: Bookmark, payload: Any, total: int) -> int | None:
    """Position of the child that reports, or None if the report is not from one of our children."""
    child = str(payload.get("instance_id", "")) if isinstance(payload, Mapping) else ""
    text = child.removeprefix(str(bookmark.payload["children"]))
    return int(text) if text != child and text.isdecimal() and int(text) < total else None


def _report(live: LiveInstance, activation: Activation, index: int, status: str, outputs: Any) -> dict[str, Any]:
    return {"instance_id": _child_id(live, activation, index), "status": status, "outputs": outputs}


ACTIVITIES = (BulkDispatchWorkflows,)
