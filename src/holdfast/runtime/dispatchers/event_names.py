"""Names of events that callers send: an object of the event's class, or a name with a payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import HoldfastError


def named_event(event: Any, payload: Any = None) -> tuple[str, Any]:
    """Name and payload. Raises `HoldfastError` for a class, for data without a name, and for two payloads."""
    if isinstance(event, str):
        return event, payload
    if isinstance(event, type):
        raise HoldfastError(f"{event.__name__} is a class. Send an object of it: send({event.__name__}(…)).")
    if event is None or isinstance(event, Mapping):
        kind = type(event).__name__
        raise HoldfastError(
            f"A {kind} does not say which event it is. Send an object of the event's class, or its name first: "
            "send('Approval', {…})."
        )
    name = type(event).__name__
    if payload is not None:
        raise HoldfastError(
            f"The event is the {name} itself. Leave the payload out, or send a name: send('{name}', …)."
        )
    return name, event
