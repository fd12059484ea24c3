"""The list of the built-in activity classes, which are written with the public activity API only."""

from __future__ import annotations

from typing import Any


def standard_types() -> list[Any]:
    """Every built-in activity class."""
    from holdfast.activities import bulk, code, composition, console, data, events, http, human, scheduling, scripting
    from holdfast.activities.control import CONTROL

    return [
        *CONTROL,
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
