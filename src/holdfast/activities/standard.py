"""List of the built-in activity classes, all of which use only the public activity API."""

from __future__ import annotations

from typing import Any


def standard_types() -> list[Any]:
    """All built-in activity classes."""
    from holdfast.activities import (
        alterations,
        bulk,
        code,
        composition,
        console,
        data,
        events,
        http,
        human,
        scheduling,
        scripting,
    )
    from holdfast.activities.control import CONTROL

    return [
        *CONTROL,
        *alterations.ACTIVITIES,
        *bulk.ACTIVITIES,
        *code.ACTIVITIES,
        *composition.ACTIVITIES,
        *console.ACTIVITIES,
        *data.ACTIVITIES,
        *events.ACTIVITIES,
        *http.ACTIVITIES,
        *human.ACTIVITIES,
        *scheduling.ACTIVITIES,
        *scripting.ACTIVITIES,
    ]
