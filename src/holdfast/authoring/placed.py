"""Placed: an activity by the name of its type, for types without a class or function, such as another workflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.authoring.activity import Activity, declared
from holdfast.model.definition import Connection, Variable
from holdfast.model.policy import ActivityOptions


class Placed(Activity, abstract=True):
    """Places an activity that is known only by its type: `Placed("ship", inputs={"order": …})`."""

    def __init__(
        self,
        type: str,
        *,
        version: int = 1,
        id: str | None = None,
        name: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, str] | None = None,
        ports: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | Iterable[Variable] = (),
        connections: Iterable[Connection] = (),
        options: ActivityOptions | None = None,
        extra: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.type = type
        self.version = version
        self.id = id
        self.name = name
        self.variables = declared(variables)
        self.metadata = metadata or {}
        self.inputs = dict(inputs or {})
        self.outputs = dict(outputs or {})
        self.connections = tuple(connections)
        self.extra = dict(extra or {})
        object.__setattr__(self, "options", options or ActivityOptions())
        self._given = dict(ports or {})
        """Ports, in which the ids of children are looked up."""
