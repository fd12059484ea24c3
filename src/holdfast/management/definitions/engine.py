"""The engine as `management` uses it: it parses, validates and compiles definitions, and offers workflows as activities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from holdfast.execution.plan import Plan
from holdfast.management.definitions.workflow_as_activity import ActivityCatalog
from holdfast.model.definition import Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.problem import Problem
from holdfast.runtime.plans.triggers import Workshop


class Engine(Workshop, ActivityCatalog, Protocol):
    @property
    def descriptors(self) -> Mapping[str, ActivityDescriptor]: ...
    def definition(self, workflow: Any) -> Definition: ...
    def plan(self, workflow: Any) -> Plan: ...
    def validate(self, workflow: Any) -> list[Problem]: ...
