"""Lookup of an activity's output by Elsa's spelling: `Result` in Elsa is `result` here."""

from __future__ import annotations

import re
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.model.scope import InstanceFacts


def recorded_output(facts: InstanceFacts, activity: str, output: str | None) -> Any:
    """The first spelling with a value wins; None if the activity has no output of that name."""
    unknown: Exception | None = None
    answered = False
    for name in _spellings(activity)[:2]:
        for output_name in [None] if output is None else _spellings(output):
            try:
                found = facts.output_of(name, output_name)
            except (HoldfastError, LookupError) as error:
                unknown = unknown or error
                continue
            answered = True
            if found is not None:
                return found
    if unknown is not None and not answered:
        raise LookupError(f"Activity not found: {activity}") from unknown
    return None


def _spellings(name: str) -> list[str]:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return list(dict.fromkeys([name, name[:1].lower() + name[1:], snake]))
