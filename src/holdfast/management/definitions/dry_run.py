"""Dry runs of publishing: all problems that would prevent a publish, found without a write to the store.

Definitions that are published together are checked together: they may use each other in any order, and two of them may not
claim the same id or route.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from holdfast.errors import DefinitionError, HoldfastError, InvalidDefinition, OriginRefused
from holdfast.execution import suspension
from holdfast.management.definitions.engine import Engine
from holdfast.management.definitions.http_routes import check_endpoints
from holdfast.management.definitions.workflow_as_activity import WorkflowsAsActivities, embedded
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Source, TriggerRow, Which
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem, errors_in
from holdfast.runtime.facade import Runtime
from holdfast.runtime.plans.triggers import trigger_rows

Place = TypeVar("Place")
IDS_PER_QUERY = 500
VERSIONS_MAX = 1_000_000
"""Versions of the definitions of one query."""


class StoredDefinitions(Protocol):
    """The part of `Definitions` that a dry run uses."""

    @property
    def as_activities(self) -> WorkflowsAsActivities: ...
    def parsed(self, document: Any) -> Definition: ...
    def validate(self, document: Any) -> Sequence[Problem]: ...
    async def list(self, query: DefinitionQuery | None = None) -> tuple[Sequence[DefinitionVersion], int]: ...


class CheckedDefinition(Struct, frozen=True, kw_only=True):
    definition: Definition
    triggers: Sequence[TriggerRow]
    """The rows that a publish writes to the trigger index."""


class DryRun:
    def __init__(self, definitions: StoredDefinitions, runtime: Runtime, engine: Engine) -> None:
        self._definitions = definitions
        self._runtime = runtime
        self._engine = engine

    async def one(
        self, workflow: Any, *, beside: Sequence[TriggerRow] = (), trusted: bool = False
    ) -> CheckedDefinition:
        """Check one workflow; raises the error that a publish would raise. `beside` are rows that will be in the index by then;
        `trusted` is a workflow from the code of this process."""
        definition = self._definitions.parsed(workflow)
        refuse(await suspension.run(self._definitions.validate, definition), definition)
        full = embedded(definition, self._engine)
        label = DefinitionVersion(
            tenant=self._runtime.tenant,
            definition_id=full.id,
            version=full.version,
            content="",
            created=self._runtime.clock.now(),
        )
        rows = await self.indexed(full, label, is_valid=full is definition)
        refuse(await check_endpoints(self._runtime, full, rows, beside), full)
        if not trusted and await self._in_code([full.id]):
            raise _written_in_code(full.id)
        return CheckedDefinition(definition=definition, triggers=rows)

    async def together(
        self,
        documents: Mapping[Place, Any],
        *,
        beside: Sequence[CheckedDefinition] = (),
        taken: Mapping[str, Place] | None = None,
    ) -> dict[Place, HoldfastError]:
        """The errors that prevent these documents from being published, by place; `beside` are workflows of code that are
        published first, `taken` the places of unchanged definitions by id."""
        return (await self.all(documents, beside=beside, taken=taken))[1]

    async def all(
        self,
        documents: Mapping[Place, Any],
        *,
        beside: Sequence[CheckedDefinition] = (),
        taken: Mapping[str, Place] | None = None,
    ) -> tuple[dict[Place, CheckedDefinition], dict[Place, HoldfastError]]:
        """Check as `together` does; returns the checked definitions, too."""
        offered = self._definitions.as_activities
        read, problems = self._read(documents, {item.definition.id for item in beside}, dict(taken or {}))
        in_code = await self._in_code([definition.id for definition in read.values()])
        checked: dict[Place, CheckedDefinition] = {}
        await offered.refresh()
        with offered.offering(read.values()) as offer, offered.held():
            rows = [row for item in beside for row in item.triggers]
            for place, definition in read.items():
                try:
                    checked[place] = await self.one(definition, beside=rows, trusted=True)
                    if definition.id in in_code:
                        raise _written_in_code(definition.id)
                    rows += checked[place].triggers
                except HoldfastError as error:
                    problems[place] = error
            if not problems:
                offer.keep()
        return checked, problems

    async def indexed(
        self, definition: Definition, label: DefinitionVersion, *, is_valid: bool = False
    ) -> Sequence[TriggerRow]:
        """The trigger index rows of a definition. Raises `InvalidDefinition` if it cannot be published. `is_valid`: it was
        validated just now."""
        rows: Sequence[TriggerRow] = await suspension.run(self._indexed, definition, label, is_valid)
        return rows

    def _indexed(self, definition: Definition, label: DefinitionVersion, is_valid: bool) -> Sequence[TriggerRow]:
        if not is_valid:
            refuse(self._engine.validate(definition), definition)
        plan = self._engine.plan(definition)
        return trigger_rows(definition, self._engine, label, plan.types)

    def _read(
        self, documents: Mapping[Place, Any], in_code: set[str], places: dict[str, Place]
    ) -> tuple[dict[Place, Definition], dict[Place, HoldfastError]]:
        read: dict[Place, Definition] = {}
        problems: dict[Place, HoldfastError] = {}
        for place, document in documents.items():
            try:
                definition = self._definitions.parsed(document)
                if definition.id in in_code:
                    raise _written_in_code(definition.id)
                if definition.id in places:
                    first = places[definition.id]
                    raise DefinitionError(
                        f"The id '{definition.id}' is already used by {first}. Give one of the two another id."
                    )
            except HoldfastError as error:
                problems[place] = error
            else:
                read[place], places[definition.id] = definition, place
        return read, problems

    async def _in_code(self, ids: Sequence[str]) -> set[str]:
        """The definitions among these that are written in code: the store refuses documents for them."""
        found: set[str] = set()
        for first in range(0, len(ids), IDS_PER_QUERY):
            some = tuple(ids[first : first + IDS_PER_QUERY])
            query = DefinitionQuery(which=Which.ALL, definition_ids=some, limit=VERSIONS_MAX)
            rows, _ = await self._definitions.list(query)
            found |= {row.definition_id for row in rows if row.details.source is Source.CODE}
        return found


def refuse(problems: Sequence[Problem], definition: Definition) -> None:
    errors = errors_in(problems)
    if errors:
        raise InvalidDefinition(errors, name=f"Workflow '{definition.title}'")


def _written_in_code(name: str) -> OriginRefused:
    return OriginRefused(
        f"Definition '{name}' is written in code. Change the code, or save the document under another id."
    )
