"""Commit strategies: names that add commits to the commits that an instance has anyway (rule H1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from types import MappingProxyType

from holdfast.model.durations import parse_duration

PERIODIC = "periodic"
_PERIODIC_WITH = f"{PERIODIC}:"
DEFAULT_PERIOD = "PT1S"

WORKFLOW_STRATEGIES: Mapping[str, str] = MappingProxyType(
    {
        "workflow_executing": "Commit the start before the first activity runs.",
        "workflow_executed": "Commit at the end of each burst, as every workflow does.",
        "activity_executing": "Commit before each activity.",
        "activity_executed": "Commit after each activity.",
        PERIODIC: "Commit at least every second of a burst; `periodic:PT5S` every five.",
    }
)
"""Strategies of a workflow and of the setting `commit_strategy`, with their descriptions."""

ACTIVITY_STRATEGIES: Mapping[str, str] = MappingProxyType(
    {
        "always": "Commit before and after the activity.",
        "never": "Add no commit for the activity.",
        "executing": "Commit before the activity.",
        "executed": "Commit after the activity.",
    }
)
"""Strategies of one activity. For a workflow, each applies to all of its activities."""

AROUND: Mapping[str, tuple[bool, bool]] = MappingProxyType(
    {
        "always": (True, True),
        "never": (False, False),
        "executing": (True, False),
        "executed": (False, True),
        "activity_executing": (True, False),
        "activity_executed": (False, True),
    }
)
"""Whether a strategy commits before and after an activity. Strategies that are not listed commit at neither place."""


def known_names(registered: Collection[str] = ()) -> tuple[str, ...]:
    """All names; `registered` are the strategies of plugins."""
    return tuple(dict.fromkeys([*WORKFLOW_STRATEGIES, *ACTIVITY_STRATEGIES, *registered]))


def refusal(name: str, registered: Collection[str] = ()) -> str | None:
    """The reason why the name is not a commit strategy, with the known names; None if it is one."""
    if name.startswith(_PERIODIC_WITH):
        try:
            period(name)
        except ValueError as error:
            return f"The commit strategy '{name}' has no valid period: {error}"
        return None
    known = known_names(registered)
    return None if name in known else f"There is no commit strategy '{name}'. Known: {', '.join(known)}."


def period(name: str | None) -> timedelta | None:
    """The longest time between two commits: a second for `periodic`, five for `periodic:PT5S`; None for other strategies.

    Raises `ValueError` if the text after the colon is no duration above zero.
    """
    if name is None or (name != PERIODIC and not name.startswith(_PERIODIC_WITH)):
        return None
    found = parse_duration(name.partition(":")[2] or DEFAULT_PERIOD)
    if found <= timedelta(0):
        raise ValueError("a period is longer than zero")
    return found
