"""Lines that instances write on this node, for listeners in this process such as the command line."""

from __future__ import annotations

import logging
from collections.abc import Callable

from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.work_rows import parent_of

logger = logging.getLogger("holdfast")

OnLine = Callable[[str], None]


class ConsoleLines:
    def __init__(self) -> None:
        self._listeners: dict[InstanceKey, list[OnLine]] = {}

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def listen(self, key: InstanceKey, on_line: OnLine) -> None:
        """Call `on_line` with every line that the instance writes on this node, after its commit, until it ends."""
        listeners = self._listeners.setdefault(key, [])
        if on_line not in listeners:
            listeners.append(on_line)

    def publish(self, key: InstanceKey, live: LiveInstance, lines: list[str]) -> None:
        if live.parent_id is not None:
            parent = self._listeners.get(InstanceKey(key.tenant, parent_of(live.parent_id)[0]))
            if parent is not None:  # A listener of the parent also gets the lines of its children.
                self._listeners.setdefault(key, parent)
        for on_line in self._listeners.get(key, ()):
            try:
                for line in lines:
                    on_line(line)
            except Exception:
                logger.exception("a line listener of instance %s failed", key.id)
        if live.status.at_rest:
            self._listeners.pop(key, None)
