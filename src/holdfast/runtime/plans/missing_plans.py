"""Contents that could not be compiled a moment ago, with the reason: they are not compiled again for every piece of work."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from holdfast.errors import CodeMissing
from holdfast.model.problem import Problem

RECOMPILE_SECONDS = 5.0
"""Pause until a content is compiled again. The code of a process rarely changes; definitions that it uses may be published."""
PROBLEMS_SHOWN = 3
_CHANGED = frozenset({"unknown-input", "missing-input"})
"""Problems of code that is present but has changed."""


class MissingPlans:
    def __init__(self) -> None:
        self._failed: dict[str, tuple[float, CodeMissing]] = {}

    def add(self, content: str, error: CodeMissing) -> CodeMissing:
        self._failed[content] = (time.monotonic() + RECOMPILE_SECONDS, error)
        return error

    def check(self, content: str) -> None:
        """Raises the error of the last attempt to compile the content, unless the attempt was long ago."""
        until, error = self._failed.get(content, (0.0, None))
        if error is None:
            return
        if time.monotonic() >= until:
            del self._failed[content]
            return
        raise CodeMissing(
            error.definition_id,
            error.reason,
            error.module,
            changed=error.changed,
            is_loaded=error.is_loaded,
            content=content,
        )

    def forget(self, content: str) -> None:
        self._failed.pop(content, None)


def code_missing(document: Mapping[str, Any], content: str, error: Exception) -> CodeMissing:
    """The error for a stored document that this process cannot compile."""
    problems = getattr(error, "problems", ())
    messages = list(dict.fromkeys(item.message.rstrip(".") for item in problems)) or [str(error).rstrip(".")]
    more = f"; and {len(messages) - PROBLEMS_SHOWN} more" if len(messages) > PROBLEMS_SHOWN else ""
    module = (document.get("metadata") or {}).get("module")
    return CodeMissing(
        str(document.get("id", content)),
        "; ".join(messages[:PROBLEMS_SHOWN]) + more,
        module,
        changed=bool(problems) and all(item.code in _CHANGED for item in problems),
        is_loaded=module is None or _is_loaded(module, problems),
        content=content,
    )


def _is_loaded(module: str, problems: Iterable[Problem]) -> bool:
    """Whether the module is imported, and what is missing is not in it: to register the module would not help."""
    loaded = sys.modules.get(module)
    return loaded is not None and not any(
        _has_type(loaded, item.message.rpartition("'")[0].rpartition("'")[2])
        for item in problems
        if item.code == "unknown-type"
    )


def _has_type(module: ModuleType, name: str) -> bool:
    """Whether the module has an object of that name that would be registered as that type. An activity may have another type
    than its variable: `@activity(name="bill") async def charge`."""
    found = getattr(module, name, None)
    activity_type = getattr(found, "activity_type", None)
    return found is not None and (
        activity_type is None or name in (activity_type.descriptor.type, *activity_type.aliases)
    )
