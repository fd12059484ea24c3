"""Middleware around an activity, composed once when the plan is built.

The order for pure activities, from outermost to innermost: `faults`, `commit`, `retry`, `journal`, `inputs`, `invoke`.
User middleware before `faults` sees a fault as a status; middleware after it sees the exception. `journal`, `inputs`
and `invoke` are fused into each operation, so middleware placed at any of them wraps all three. `commit` is a check of
the segment loop (`commit_points`). An activity without middleware has no wrapper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import PluginError
from holdfast.execution import faults
from holdfast.execution.activation import FAULTED, RUNNING, Activation
from holdfast.execution.plan import Node, Op
from holdfast.model.instance import Bookmark
from holdfast.model.scope import Scope
from holdfast.ports import MiddlewarePlacement, PureMiddleware

if TYPE_CHECKING:
    from holdfast.execution.compiler import Compiler
    from holdfast.execution.live import LiveInstance

BUILT_IN = ("faults", "commit", "retry", "journal", "inputs", "invoke")


class MiddlewareContext:
    """View of an activity for the middleware around it."""

    __slots__ = ("activation", "live", "node", "owner", "payload", "phase", "status")

    def __init__(self, live: LiveInstance, node: Node, owner: Activation, phase: str, payload: Any = None) -> None:
        self.live = live
        self.node = node
        self.owner = owner
        self.phase = phase
        """`execute` or `resume`."""
        self.payload = payload
        self.activation: Activation | None = None
        self.status = "running"
        """After `proceed()`: `completed`, `suspended`, `running` (a container with children) or `faulted`."""

    @property
    def activity_id(self) -> str:
        return self.node.key

    @property
    def activity_type(self) -> str:
        return self.node.definition.type

    @property
    def activity_name(self) -> str | None:
        return self.node.definition.name

    @property
    def instance_id(self) -> str:
        return self.live.id

    @property
    def correlation_id(self) -> str | None:
        return self.live.correlation_id


def wrap(compiler: Compiler, node: Node) -> None:
    """Wrap the node's operation in middleware."""
    placed = ordered(compiler.environment.middleware)
    matching = [
        item
        for item in placed
        if isinstance(item, MiddlewarePlacement)
        and isinstance(item.middleware, PureMiddleware)
        and (not item.types or node.definition.type in item.types)
    ]
    outside = placed.index("faults")
    for item in reversed(matching):
        node.op = _around(node, node.op, item.middleware, guarded=placed.index(item) < outside)
    if matching:
        node.step = None
        resume = node.hooks.resume or _complete_on_resume
        node.hooks.resume = _around_resume(node, resume, [item.middleware for item in matching])


def ordered(placements: tuple[MiddlewarePlacement, ...]) -> list[str | MiddlewarePlacement]:
    """Built-in names and user middleware in one list, from outermost to innermost."""
    placed: list[str | MiddlewarePlacement] = list(BUILT_IN)

    def position(name: str) -> int:
        for index, item in enumerate(placed):
            if item == name or (isinstance(item, MiddlewarePlacement) and item.name == name):
                return index
        names = ", ".join(item if isinstance(item, str) else item.name for item in placed)
        raise PluginError(f"Unknown middleware '{name}'. Place yours before or after one of: {names}.")

    for placement in placements:
        if placement.before is not None:
            placed.insert(position(placement.before), placement)
        else:
            placed.insert(position(placement.after or "faults") + 1, placement)
    return placed


# -- user middleware ---------------------------------------------------------------------------------------------------


def _around(node: Node, op: Op, middleware: PureMiddleware, *, guarded: bool) -> Op:
    def wrapped(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        context = MiddlewareContext(live, node, owner, "execute")
        before = live.sequence

        def proceed() -> None:
            try:
                op(live, owner, scope)
            except Exception as error:
                context.status = "faulted"
                if not guarded:
                    raise
                faults.handle_exception(live, node, owner, scope, error)
            else:
                context.activation, context.status = _left_behind(node, owner, before)

        middleware.around(context, proceed)

    return wrapped


def _left_behind(node: Node, owner: Activation, before: int) -> tuple[Activation | None, str]:
    """The activation that an execution left behind, and its status; None if it completed."""
    for key in reversed(owner.kids or {}):
        if key <= before:
            break
        kid = (owner.kids or {})[key]
        if kid.node is node:
            if kid.status == FAULTED:
                return kid, "faulted"
            return kid, "running" if kid.kids or not (kid.bookmarks or kid.node.effect) else "suspended"
    return None, "completed"


def _around_resume(
    node: Node,
    resume: Callable[[LiveInstance, Activation, Bookmark, Any], None],
    chain: list[PureMiddleware],
) -> Callable[[LiveInstance, Activation, Bookmark, Any], None]:
    def wrapped(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        assert activation.owner is not None
        context = MiddlewareContext(live, node, activation.owner, "resume", payload)
        context.activation = activation

        def innermost() -> None:
            try:
                resume(live, activation, bookmark, payload)
            except Exception:
                context.status = "faulted"
                raise
            if activation.status != RUNNING:
                context.status = "completed"
            else:
                context.status = "suspended" if activation.bookmarks else "running"

        step = innermost
        for middleware in reversed(chain):
            step = _bind(middleware, context, step)
        step()

    return wrapped


def _complete_on_resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
    """Resume hook for a bookmark without a callback."""
    if bookmark.auto_complete:
        live.complete(activation)


def _bind(middleware: PureMiddleware, context: MiddlewareContext, proceed: Callable[[], None]) -> Callable[[], None]:
    return lambda: middleware.around(context, proceed)
