"""A workflow function with options for one start, apart from its arguments.

    await app.start(fulfil.options(correlation_id=order.id), order.id)

The arguments keep their types; the options are checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from holdfast.authoring.compiled import WorkflowFunction

P = ParamSpec("P")
R = TypeVar("R")


class StartOptions(Struct, frozen=True, kw_only=True):
    """How an instance starts, beside its arguments."""

    instance_id: str | None = None
    """The id that it gets; None makes one up."""
    correlation_id: str | None = None
    name: str | None = None
    idempotency_key: str | None = None
    """The same key twice starts once: the second caller gets the first one's instance."""


class Call(Generic[P, R]):
    """What `fulfil.options(…)` gives: something to start."""

    def __init__(self, workflow: WorkflowFunction[P, R], options: StartOptions) -> None:
        self.workflow = workflow
        self.options = options

    def __repr__(self) -> str:
        return f"<{self.workflow!r} with options>"
