"""Commit points: where the commit strategies of a definition add commits. Determined once, when the plan is built.

The segment loop commits before a node with `commit_before` if the instance has changed since its last commit, and before
the next activity after one that ended with `commit_after`. Neither needs anything in the stored state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.execution.activation import Activation
from holdfast.execution.plan import Done, Node, Outcome, Plan
from holdfast.model.commit_strategies import AROUND, period, refusal
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem
from holdfast.model.scope import Scope
from holdfast.ports import CommitRule

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

_NONE = (False, False)


class CommitPoints:
    """The commit points of one plan."""

    def __init__(
        self,
        plan: Plan,
        registered: Mapping[str, CommitRule],
        default: str | None,
        report: Callable[[Problem], None],
    ) -> None:
        """`default` is the strategy of a definition that names none."""
        self._plan = plan
        self._registered = registered
        self._report = report
        self._strategy = self._checked(plan.definition.options.commit, "/options/commit") or default
        every = period(self._strategy)
        plan.commit_period_ns = 0 if every is None else every // timedelta(microseconds=1) * 1_000
        plan.commits = every is not None

    def place(self, node: Node, path: str) -> bool:
        """Set the commit before the node. Returns whether a commit follows its end."""
        own = self._checked(node.definition.options.commit, pointer(path, "options", "commit"))
        before, after = self._around(own or self._strategy, node)
        if self._strategy == "workflow_executing" and node.parent is not None and node.parent.parent is None:
            before = True  # The first activity of the root: the start is committed before it runs.
        node.commit_before = before
        self._plan.commits = self._plan.commits or before or after
        return after

    def _around(self, name: str | None, node: Node) -> tuple[bool, bool]:
        if name is None:
            return _NONE
        custom = self._registered.get(name)
        return AROUND.get(name, _NONE) if custom is None else custom(node.definition)

    def _checked(self, name: str | None, path: str) -> str | None:
        reason = None if name is None else refusal(name, self._registered)
        if reason is None:
            return name
        self._report(
            Problem(path=path, code="unknown-mode", message=reason, remedy="Plugins can register more strategies.")
        )
        return None


def commit_after(done: Done) -> Done:
    def ended(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        live.commit_wanted = True
        done(live, owner, scope, outcome)

    return ended
