"""First publish of many definitions: a few statements for each hundred, instead of several for each definition."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast import telemetry
from holdfast.management.definitions.dry_run import CheckedDefinition, Place
from holdfast.management.definitions.engine import Engine
from holdfast.management.definitions.version_content import draft_number, made_of
from holdfast.management.definitions.workflow_as_activity import embedded
from holdfast.model import schedule
from holdfast.model.catalog import DefinitionVersion, NewVersion, Source, VersionDetails
from holdfast.model.definition import Definition
from holdfast.model.routes import ENDPOINT
from holdfast.runtime.facade import Runtime

_COORDINATED = {ENDPOINT, *schedule.TYPES}
BATCH = 100
"""Definitions of one transaction."""


async def publish_new(
    runtime: Runtime, engine: Engine, checked: Mapping[Place, CheckedDefinition], source: Source
) -> dict[Place, DefinitionVersion]:
    """Publish the definitions that have no version yet and are plain; returns their versions."""
    places = {item.definition.id: place for place, item in checked.items() if _is_plain(item, engine)}
    saved: dict[Place, DefinitionVersion] = {}
    names = list(places)
    for first in range(0, len(names), BATCH):
        versions = [_new_version(runtime, checked[places[name]], source) for name in names[first : first + BATCH]]
        for label in await runtime.store.publish_new(runtime.tenant, versions):
            saved[places[label.definition_id]] = label
            telemetry.emit("definition.published", definition_id=label.definition_id, version=label.version)
    return saved


def _is_plain(item: CheckedDefinition, engine: Engine) -> bool:
    """The definition has no part that a publish must coordinate with other definitions: a route, a schedule, an activity."""
    definition = item.definition
    return (
        not any(row.type in _COORDINATED for row in item.triggers)
        and not definition.options.usable_as_activity
        and embedded(definition, engine).extra == definition.extra
    )


def _new_version(runtime: Runtime, item: CheckedDefinition, source: Source) -> NewVersion:
    definition: Definition = replace(item.definition, version=draft_number(None, item.definition))
    details = VersionDetails.of(definition, source)
    label, content = made_of(definition, details, runtime.tenant, runtime.clock.now())
    rows = [replace(row, version=label.version, content=label.content) for row in item.triggers]
    return NewVersion(label=label, content=content, triggers=rows)
