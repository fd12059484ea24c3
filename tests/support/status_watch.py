"""Watch on the status of instances: records every change that the transition table does not allow."""

from __future__ import annotations

from typing import Any

from holdfast.execution.live import LiveInstance
from holdfast.model.instance import TRANSITIONS, Status


class StatusWatch:
    """Stands where the field stands, and notes changes that the table of transitions does not have. Raised at once they
    would be taken for faults of activities."""

    def __init__(self) -> None:
        self.illegal: list[tuple[Status, Status]] = []
        self._field: Any = LiveInstance.__dict__["status"]

    def install(self) -> None:
        LiveInstance.status = self  # type: ignore[assignment]  # a descriptor for a descriptor

    def remove(self) -> None:
        LiveInstance.status = self._field

    def __get__(self, live: LiveInstance | None, owner: type[LiveInstance]) -> Any:
        return self._field.__get__(live, owner)

    def __set__(self, live: LiveInstance, status: Status) -> None:
        before: Status = self._field.__get__(live, LiveInstance)
        if status is not before and status not in TRANSITIONS[before]:
            self.illegal.append((before, status))
        self._field.__set__(live, status)
