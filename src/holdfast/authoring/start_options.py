"""Start options: a workflow function with options for one start, separate from its arguments.

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
    """Options of a start, in addition to the arguments."""

    instance_id: str | None = None
    """Id of the new instance. Default: generated."""
    correlation_id: str | None = None
    name: str | None = None
    idempotency_key: str | None = None
    """Idempotency key: a second start with the same key returns the instance of the first."""


class Call(Generic[P, R]):
    """Result of `fulfil.options(…)`, which can be started."""

    def __init__(self, workflow: WorkflowFunction[P, R], options: StartOptions) -> None:
        self.workflow = workflow
        self.options = options

    def __repr__(self) -> str:
        return f"<{self.workflow!r} with options>"
