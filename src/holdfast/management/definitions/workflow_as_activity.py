"""Workflows that other stored definitions use as activities.

A used workflow is resolved when the definition that uses it is published, and becomes part of its content (rule M14). Later
versions of the used workflow do not change definitions that were published before. The engine's catalog follows the published
definitions that are usable as activities, so that editors offer them and the compiler finds them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.execution.composite import find_workflow
from holdfast.management.definitions.workflow_activities import WorkflowActivityType
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Origin, Which
from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition
from holdfast.ports import ActivityType
from holdfast.runtime.facade import Runtime
from holdfast.runtime.plans.catalog import DefinitionCatalog, activity_type_name
from holdfast.runtime.service import WakeableService

logger = logging.getLogger("holdfast")

PARTS = "parts"
"""The field of a published definition that holds the workflows it uses."""
USABLE_MAX = 10_000
"""Published definitions that a refresh reads."""


class ActivityCatalog(Protocol):
    """The part of the engine that is needed here: its catalog, and the activity types made of it."""

    @property
    def definitions(self) -> DefinitionCatalog: ...
    def refresh(self) -> None: ...
    def activity_type(self, name: str, version: int = 1) -> ActivityType | None: ...


def bare(definition: Definition) -> Definition:
    """The definition as its author wrote it, without the workflows that it uses."""
    if PARTS not in definition.extra:
        return definition
    return replace(definition, extra={key: value for key, value in definition.extra.items() if key != PARTS})


def parts_of(definition: Definition) -> list[Definition]:
    """The workflows that a published definition holds."""
    found: Any = definition.extra.get(PARTS)
    return [parse_definition(item) for item in found] if isinstance(found, list) else []


def embedded(definition: Definition, catalog: ActivityCatalog) -> Definition:
    """The definition with all workflows that it uses, directly or indirectly. Workflows with trusted code are not embedded: they
    always run their current code (rule H10)."""
    plain = bare(definition)
    used: dict[str, Definition] = {}
    _collect(plain, catalog, used)
    parts = [write_definition(item) for item in used.values()]
    parts = [item for item in parts if b'"$code"' not in msgspec.json.encode(item)]
    return replace(plain, extra={**plain.extra, PARTS: parts}) if parts else plain


def _collect(definition: Definition, catalog: ActivityCatalog, used: dict[str, Definition]) -> None:
    for activity in definition.root.walk():
        found = _workflow(activity, catalog)
        if found is not None and found.id not in used:
            used[found.id] = bare(found)
            _collect(found, catalog, used)


def _workflow(activity: ActivityNode, catalog: ActivityCatalog) -> Definition | None:
    kind = catalog.activity_type(activity.type, activity.version)
    if kind is None:
        return find_workflow(catalog.definitions, activity)
    if not isinstance(kind, WorkflowActivityType):
        return None
    return catalog.definitions.find(kind.definition.id) or kind.definition  # The current version.


class Resolved:
    """Resolves the activities of a definition: first by the workflows that it holds, then by the engine."""

    def __init__(self, definition: Definition, catalog: ActivityCatalog) -> None:
        parts = parts_of(definition)
        self._own = DefinitionCatalog(parts)
        self.types: dict[str, WorkflowActivityType] = {
            activity_type_name(item.title): WorkflowActivityType(item) for item in parts
        }
        self._catalog = catalog

    def activity(self, name: str, version: int) -> ActivityType | None:
        return self.types.get(name) or self._catalog.activity_type(name, version)

    def find(self, reference: str, *, version: int | None = None) -> Definition | None:
        own = self._own.find(reference, version=version)
        return own or self._catalog.definitions.find(reference, version=version)


class Offer:
    """Workflows that other definitions may use before they are published."""

    def __init__(self) -> None:
        self.kept = False

    def keep(self) -> None:
        """The workflows are published: do not withdraw them."""
        self.kept = True


class WorkflowsAsActivities:
    """Updates the engine's catalog with the published definitions of this store that are usable as activities."""

    def __init__(self, runtime: Runtime, catalog: ActivityCatalog) -> None:
        self._runtime = runtime
        self._catalog = catalog
        self._epoch = -1
        self._held = 0
        self._known: dict[str, str] = {}
        """Id and content of the definitions that this service added."""
        self._service = WakeableService(
            "reuse", self.refresh, failure="published workflows could not be read", log=runtime.log
        )

    def start(self) -> None:
        """Refresh now, and whenever a read of this node returns a new epoch: the pulse does every few seconds."""
        self._runtime.plans.current.on_epoch = self._service.wake
        self._service.start()
        self._service.wake()

    async def stop(self) -> None:
        await self._service.stop()

    @contextmanager
    def offering(self, definitions: Iterable[Definition]) -> Iterator[Offer]:
        """Add definitions to the catalog during a dry run; withdrawn afterwards, unless they are kept."""
        usable = [item for item in definitions if item.options.usable_as_activity]
        names = {item.id for item in usable}
        before = [item for item in self._catalog.definitions if item.id in names]
        for definition in usable:
            self._catalog.definitions.put(definition)
        if usable:
            self._catalog.refresh()
        offer = Offer()
        try:
            yield offer
        finally:
            if usable and not offer.kept:
                for name in names:
                    self._catalog.definitions.remove(name)
                for definition in before:
                    self._catalog.definitions.add(definition)
                self._catalog.refresh()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Do not follow the store in this block: it publishes many definitions, each of which changes the epoch."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    async def refresh(self) -> None:
        """Read the published definitions, if something has changed since the last refresh."""
        if self._held:
            return
        epoch = await self._runtime.plans.current.refresh()
        if epoch == self._epoch:
            return
        query = DefinitionQuery(which=Which.PUBLISHED, limit=USABLE_MAX)
        rows, _ = await self._runtime.store.list_versions(self._runtime.tenant, query)
        usable = {row.definition_id: row for row in rows if row.details.usable_as_activity}
        changed = [row for name, row in usable.items() if self._known.get(name) != row.content]
        gone = [name for name in self._known if name not in usable]
        for definition in [item async for item in self._read(changed)]:
            self._catalog.definitions.put(definition)
        for name in gone:
            self._catalog.definitions.remove(name)
        self._known = {name: row.content for name, row in usable.items()}
        self._epoch = epoch
        if changed or gone:
            self._catalog.refresh()

    async def _read(self, rows: list[DefinitionVersion]) -> AsyncIterator[Definition]:
        for row in rows:
            content = await self._runtime.store.load_content(row.tenant, row.content)
            if content is None:
                continue
            try:
                document = msgspec.json.decode(content.document)
                yield parse_definition(document, trusted=content.origin is Origin.CODE)
            except HoldfastError:
                logger.warning("'%s' cannot be used as an activity here", row.definition_id, exc_info=True)
