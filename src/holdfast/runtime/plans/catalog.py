"""Definitions that this process knows, and their compiled plans."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from holdfast.execution.plan import Plan
from holdfast.model.definition import Definition

PLAN_NODES_MAX = 200_000
"""Activities in all cached plans together: about 500 MB. A count of plans would say nothing about their size."""


class DefinitionCatalog:
    """Finds definitions by id, version id, name, or the activity type name made of their name."""

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        self._definitions: list[Definition] = []
        for definition in definitions:
            self.add(definition)

    def add(self, definition: Definition) -> None:
        self._definitions = [
            item for item in self._definitions if (item.id, item.version) != (definition.id, definition.version)
        ]
        self._definitions.append(definition)

    def put(self, definition: Definition) -> None:
        """Add this version and remove all other versions of the definition."""
        self._definitions = [item for item in self._definitions if item.id != definition.id]
        self._definitions.append(definition)

    def remove(self, definition_id: str) -> None:
        self._definitions = [item for item in self._definitions if item.id != definition_id]

    def __iter__(self) -> Iterator[Definition]:
        return iter(self._definitions)

    def find(self, reference: str, *, version: int | None = None) -> Definition | None:
        for names in (_ids, _names, _type_names):
            found = [item for item in self._definitions if reference in names(item)]
            if version is not None:
                found = [item for item in found if item.version == version]
            if found:
                return max(found, key=lambda item: item.version)
        return None


def _ids(definition: Definition) -> set[str]:
    elsa = definition.metadata.get("elsa") or definition.extra.get("elsa") or {}
    version_id = definition.metadata.get("version_id") or (elsa.get("id") if isinstance(elsa, dict) else None)
    return {definition.id} if version_id is None else {definition.id, str(version_id)}


def _names(definition: Definition) -> set[str]:
    return {definition.name or ""}


def _type_names(definition: Definition) -> set[str]:
    return {activity_type_name(definition.title)}


def activity_type_name(name: str) -> str:
    """`Subworkflow test` → `SubworkflowTest`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^0-9A-Za-z]+", name) if word)


class CompiledPlans:
    """Plans by definition object; the least recently used leave first."""

    def __init__(self, compile_one: Callable[[Definition], Plan]) -> None:
        self._compile = compile_one
        self._plans: OrderedDict[int, tuple[Definition, Plan]] = OrderedDict()
        self._nodes = 0

    def plan(self, definition: Definition) -> Plan:
        found = self._plans.get(id(definition))
        if found is not None:
            self._plans.move_to_end(id(definition))
            return found[1]
        plan = self._compile(definition)
        self._plans[id(definition)] = (definition, plan)
        self._nodes += nodes_of(plan)
        while self._nodes > PLAN_NODES_MAX and len(self._plans) > 1:
            _, (_, oldest) = self._plans.popitem(last=False)
            self._nodes -= nodes_of(oldest)
        return plan


def nodes_of(plan: Plan) -> int:
    """Size of a plan in the caches."""
    return max(1, len(plan.by_key))
