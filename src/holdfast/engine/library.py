"""The library of an engine: activity types, languages, definitions, and their compiled plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.workflow import Workflow
from holdfast.errors import DefinitionError
from holdfast.execution.compiler import Environment, compile_plan
from holdfast.execution.composite import describe_workflow, find_workflow
from holdfast.execution.plan import Plan
from holdfast.management.definitions.workflow_as_activity import Resolved
from holdfast.model.cron import CRON
from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.problem import Problem
from holdfast.model.reader import parse_definition
from holdfast.model.validate import validate
from holdfast.model.values import TypeRegistry
from holdfast.plugins import Registry
from holdfast.ports import ActivityType, CronCalendar, ExpressionEvaluator
from holdfast.runtime.plans.catalog import CompiledPlans, DefinitionCatalog
from holdfast.settings import Settings

_WRITTEN = (Workflow, Activity)
"""Classes of workflows in Python; each object is converted to a definition once."""
READ_MAX = 20_000
"""Workflow objects whose definitions are kept."""


class Library:
    registry: Registry
    settings: Settings

    def __init__(self, definitions: DefinitionCatalog, registry: Registry, settings: Settings) -> None:
        self.definitions = definitions
        self.registry = registry
        self.settings = settings
        self._types = dict(registry.latest())
        self._versions = dict(registry.activity_types)
        self._own_types: tuple[type, ...] = ()
        """Value types of workflow objects."""
        self._all_types: TypeRegistry | None = None
        self._plans = CompiledPlans(self._compile)
        self._read: dict[int, tuple[Any, Definition]] = {}
        """Definitions of workflow objects by `id(object)`. The object is kept, so that its id is not reused."""

    def definition(self, workflow: Any) -> Definition:
        """The definition of a workflow: of Python objects, of a JSON document (Holdfast or Elsa 3), or the definition itself."""
        if isinstance(workflow, Definition):
            return workflow
        if isinstance(workflow, Activity):
            workflow = Workflow(workflow)
        if isinstance(workflow, Workflow):
            self._adopt(workflow)
            return workflow.definition
        if isinstance(workflow, Mapping):
            # Imported here: a server without documents need not load these modules.
            from holdfast.elsa import is_elsa, parse_elsa

            return parse_elsa(workflow) if is_elsa(workflow) else parse_definition(workflow)
        if isinstance(workflow, FunctionActivity):
            raise DefinitionError(
                f"{workflow!r} is not a workflow. Place it in one: Workflow({workflow.function.__name__}.bind(…))."
            )
        if isinstance(workflow, str):
            raise DefinitionError(
                f"The text '{workflow}' is not a workflow. A file or folder is named by Path('{workflow}')."
            )
        raise DefinitionError(
            f"A {type(workflow).__name__} is not a workflow. Give a Workflow, an activity, a Definition or a JSON document."
        )

    def refresh(self) -> None:
        """Query the activity providers again, after workflows were added or documents changed."""
        self.registry = self.registry.refreshed()
        self._versions.update(self.registry.activity_types)
        self._types.update(self.registry.latest())
        self._all_types = None

    def _adopt(self, workflow: Workflow) -> None:
        """Register the activity types, value types and child workflows of a workflow object."""
        if workflow.value_types or any(
            (item.descriptor.type, item.descriptor.version) not in self._versions for item in workflow.activity_types
        ):
            self._all_types = None
        for activity_type in workflow.activity_types:
            key = (activity_type.descriptor.type, activity_type.descriptor.version)
            known = self._versions.get(key)
            if known is not None and known is not activity_type:
                raise DefinitionError(
                    f"The activity type '{key[0]}' is used for two different activities. Give one another name: "
                    "@activity(name=…) or class X(Activity, name=…)."
                )
            self._versions[key] = self._types[key[0]] = activity_type
        self._own_types = (*self._own_types, *workflow.value_types)
        for child in workflow.children:
            if (
                self.definitions.find(child.definition.id) is None
            ):  # A definition of `Holdfast(definitions=…)` has precedence.
                self.definitions.add(child.definition)
                self._adopt(child)

    def validate(self, workflow: Any) -> list[Problem]:
        """All problems of a definition, as data."""
        definition = self.definition(workflow)
        held = {name: item.descriptor for name, item in Resolved(definition, self).types.items()}
        aliased = {name: item.descriptor for name, item in self._aliases().items()}
        return validate(
            definition,
            descriptors=aliased | self.descriptors | held,
            languages=self.registry.languages,
            types=self._value_types(),
            find=self._describe_workflow,
            commit_strategies=self.registry.commit_strategies,
            calendar=self.registry.services.get(CronCalendar, CRON),
            trusted=True,  # Documents with trusted code are refused when they are read.
        )

    def _describe_workflow(self, activity: ActivityNode) -> ActivityDescriptor | None:
        found = find_workflow(self.definitions, activity)
        return None if found is None else describe_workflow(found, activity.type)

    @property
    def descriptors(self) -> dict[str, ActivityDescriptor]:
        """Descriptors of all known activity types, by type."""
        return {name: item.descriptor for name, item in self._types.items()}

    @property
    def documented(self) -> dict[str, ActivityDescriptor]:
        """Descriptors with the docstrings of their fields, which are read from the source."""
        from holdfast.authoring.field_docs import documented

        return {name: documented(item) for name, item in self._types.items()}

    def plan(self, workflow: Any) -> Plan:
        """The plan that bursts of this workflow run; compiled once."""
        if isinstance(workflow, _WRITTEN):
            known = self._read.get(id(workflow))
            if known is None:
                known = self._read[id(workflow)] = (workflow, self.definition(workflow))
                if len(self._read) > READ_MAX:
                    del self._read[next(iter(self._read))]
            return self._plans.plan(known[1])
        return self._plans.plan(self.definition(workflow))

    def _compile(self, definition: Definition) -> Plan:
        resolved = Resolved(definition, self)
        return compile_plan(
            definition,
            Environment(
                activity=resolved.activity,
                known_types=lambda: sorted(self._types),
                languages=self.registry.languages,
                types=self._value_types(),
                definitions=resolved,
                middleware=self.registry.middleware,
                commit_strategies=self.registry.commit_strategies,
                commit_strategy=self.settings.commit_strategy or None,
                incident_strategies=self.registry.incident_strategies,
                activation_strategies=self.registry.activation_strategies,
                journal=self.settings.journal.value,
            ),
        )

    @property
    def languages(self) -> Mapping[str, ExpressionEvaluator]:
        return self.registry.languages

    def activity_type(self, name: str, version: int = 1) -> ActivityType | None:
        """The activity type by name and version (unknown version: the latest), or by an alias."""
        return self._versions.get((name, version)) or self._types.get(name) or self._aliases().get(name)

    def _aliases(self) -> dict[str, ActivityType]:
        return {alias: item for item in self._types.values() for alias in getattr(item, "aliases", ())}

    def _value_types(self) -> TypeRegistry:
        """All value types, collected again only after types were added."""
        if self._all_types is None:
            self._all_types = self._collect_types()
        return self._all_types

    def _collect_types(self) -> TypeRegistry:
        classes = [*self.registry.value_types, *self._own_types]
        for activity_type in self._types.values():
            classes.extend(getattr(activity_type, "value_types", ()))
        found = TypeRegistry().including(*classes, *self.registry.value_aliases.values())
        for name, cls in self.registry.value_aliases.items():
            found.register(cls, aliases=(name,))
        return found
