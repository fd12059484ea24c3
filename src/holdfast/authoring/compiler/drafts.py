"""Drafts of activities: mutable during compilation, then frozen into nodes of the definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.model.definition import ActivityNode, PortEntry, Variable
from holdfast.model.policy import ActivityOptions


@dataclass(slots=True)
class Draft:
    type: str
    id: str
    version: int = 1
    name: str | None = None
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    ports: dict[str, Any] = field(default_factory=dict)
    """A draft, a list of drafts, or a list of `Entry`."""
    variables: tuple[Variable, ...] = ()
    options: ActivityOptions = field(default_factory=ActivityOptions)
    metadata: dict[str, Any] = field(default_factory=dict)
    result_type: str = "any"

    def frozen(self) -> ActivityNode:
        return ActivityNode(
            id=self.id,
            type=self.type,
            version=self.version,
            name=self.name,
            inputs=self.inputs,
            outputs=self.outputs,
            ports={port: _frozen(value) for port, value in self.ports.items() if value is not None},
            variables=self.variables,
            options=self.options,
            metadata=self.metadata,
        )


@dataclass(slots=True)
class Entry:
    data: dict[str, Any]
    activities: dict[str, Draft]

    def frozen(self) -> PortEntry:
        return PortEntry(data=self.data, activities={name: item.frozen() for name, item in self.activities.items()})


def _frozen(value: Any) -> Any:
    return tuple(item.frozen() for item in value) if isinstance(value, list) else value.frozen()


class Ids:
    """Ids derived from names, with a number among equal names. Moving lines or adding comments does not change them."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}
        self._used: set[str] = set()

    def new(self, base: str) -> str:
        """An id that is not in use: the second `cur` and a name `cur2` would be the same."""
        while True:
            number = self.counts[base] = self.counts.get(base, 0) + 1
            found = f"{self.prefix}{base}" if number == 1 else f"{self.prefix}{base}{number}"
            if found not in self._used:
                self._used.add(found)
                return found
