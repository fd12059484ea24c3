"""Workflows as activity types: every definition that is usable as an activity, under the name made of its title."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.execution.composite import describe_workflow
from holdfast.model.definition import Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.runtime.plans.catalog import DefinitionCatalog, activity_type_name


class WorkflowActivityType:
    """One version of a workflow, placed in others as if it were an activity."""

    checks_inputs = True
    """Its own compiler matches input names, without regard to case."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    @property
    def descriptor(self) -> ActivityDescriptor:
        return describe_workflow(self.definition, activity_type_name(self.definition.title))

    def compile(self, builder: Any) -> Any:
        builder.compiler.composite(builder.node, self.definition, builder.path, builder.definition.inputs)
        return builder.node.op


class WorkflowActivities:
    """The `ActivityProvider` of workflow-as-activity."""

    name = "workflows"

    def __init__(self, catalog: DefinitionCatalog) -> None:
        self._catalog = catalog
        self._types: dict[int, WorkflowActivityType] = {}

    def activity_types(self) -> Iterator[WorkflowActivityType]:
        for definition in self._catalog:
            if definition.options.usable_as_activity:
                yield self._types.setdefault(id(definition), WorkflowActivityType(definition))
