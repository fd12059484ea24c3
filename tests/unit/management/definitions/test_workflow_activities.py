"""Workflows as activity types: those that allow it, under the name made of their title."""

from __future__ import annotations

from holdfast.management.definitions.workflow_activities import WorkflowActivities
from holdfast.model.definition import ActivityNode, Definition, DefinitionOptions
from holdfast.runtime.plans.catalog import DefinitionCatalog


def definition(id: str, *, usable: bool) -> Definition:
    return Definition(
        id=id,
        name=f"{id} an order",
        root=ActivityNode(id="a", type="A"),
        options=DefinitionOptions(usable_as_activity=usable),
    )


def test_only_usable_workflows_are_activity_types() -> None:
    provider = WorkflowActivities(
        DefinitionCatalog([definition("place", usable=True), definition("cancel", usable=False)])
    )

    assert [item.descriptor.type for item in provider.activity_types()] == ["PlaceAnOrder"]


def test_a_definition_keeps_its_type_object() -> None:
    catalog = DefinitionCatalog([definition("place", usable=True)])
    provider = WorkflowActivities(catalog)
    first = list(provider.activity_types())
    catalog.add(definition("refund", usable=True))

    assert next(iter(provider.activity_types())) is first[0]
