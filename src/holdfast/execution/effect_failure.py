"""Exceptions of effects as data."""

from __future__ import annotations

from holdfast.errors import ActivityTimeout, ExecutionError, ProcessDied
from holdfast.execution.faults import error_names, source_of, type_name
from holdfast.execution.record import PROCESS_DIED, EffectFailure


def failure(error: BaseException) -> EffectFailure:
    """An exception as data, together with the exception for callers in this process."""
    names = error_names(error)
    return EffectFailure(
        type=type_name(error),
        message=str(error),
        bases=names[1:],
        source=source_of(error),
        cause=_cause(error),
        error=error,
    )


def _cause(error: BaseException) -> str:
    if isinstance(error, ProcessDied):
        return PROCESS_DIED
    return "timeout" if isinstance(error, ActivityTimeout) else "fault"


class RemoteError(ExecutionError):
    """Failure in another process whose exception could not be transferred; only the names are known."""

    def __init__(self, failure: EffectFailure) -> None:
        self.type_name = failure.type
        self.names = (failure.type, *failure.bases)
        self.source = failure.source
        super().__init__(failure.message)
