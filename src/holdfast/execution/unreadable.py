"""Errors of stored values that the code of this process cannot read: they name the variable and the class.

Constructors of users raise any error while values are rebuilt, so readers catch all of them and convert them here.
"""

from __future__ import annotations

from holdfast.errors import HoldfastError, StateUnreadable, UnknownValueType, UnreadableValue


class VariableUnreadable(Exception):
    """Adds the name of a variable to an error while it propagates to the reader of the state."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(f"{name}: {error}")
        self.name = name
        self.error = error


def unreadable(instance_id: str, error: Exception, *, part: str = "state") -> StateUnreadable:
    """The error for callers: it names the instance, the variable and the class, and the remedy."""
    if isinstance(error, StateUnreadable):
        return error
    variable = None
    if isinstance(error, VariableUnreadable):
        variable, error = error.name, error.error
    type_name = error.type_name if isinstance(error, UnknownValueType | UnreadableValue) else None
    if isinstance(error, UnknownValueType):
        reason = "no class of that name is registered here"
    elif isinstance(error, UnreadableValue):
        reason = error.reason
    else:
        reason = str(error) if isinstance(error, HoldfastError) else f"it is damaged, {error!r}"
    return StateUnreadable(instance_id, reason, variable=variable, type_name=type_name, part=part)
