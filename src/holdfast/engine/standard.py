"""Plugins of every engine: the standard activities and languages, and the arguments of `Holdfast(…)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.activities.standard import standard_types
from holdfast.expressions import standard_evaluators
from holdfast.expressions.isolation.children import shared_children
from holdfast.expressions.javascript import JavaScriptEvaluator
from holdfast.expressions.javascript.engine import JsLimits
from holdfast.expressions.liquid import LiquidEvaluator
from holdfast.expressions.python import PythonEvaluator
from holdfast.management.definitions.workflow_activities import WorkflowActivities
from holdfast.ports import EndpointPolicy, MiddlewarePlacement, Registration
from holdfast.runtime.plans.catalog import DefinitionCatalog
from holdfast.settings import Settings


class StandardPlugin:
    """The standard activities and languages, registered like those of any other plugin."""

    name = "holdfast"
    needs: Sequence[str] = ()

    def __init__(self, definitions: DefinitionCatalog) -> None:
        self._definitions = definitions
        self.evaluators = standard_evaluators()

    def register(self, registration: Registration) -> None:
        registration.activity(*standard_types())
        registration.activity_provider(WorkflowActivities(self._definitions))
        for evaluator in self.evaluators.values():
            registration.language(evaluator)

    def configure(self, settings: Settings) -> None:
        """Set the limits of the languages: settings are known only after every plugin has added its own."""
        for evaluator in self.evaluators.values():
            if isinstance(evaluator, PythonEvaluator):
                evaluator.fuel = settings.python_steps
            elif isinstance(evaluator, LiquidEvaluator):
                evaluator.fuel = settings.liquid_steps
            elif isinstance(evaluator, JavaScriptEvaluator):
                evaluator.limits = JsLimits(time=settings.javascript_time, memory=settings.javascript_memory)
        shared_children().size = settings.evaluation_processes


class GivenPlugin:
    """Activities, services, middleware, types and policies of the arguments of `Holdfast(…)`."""

    name = "Holdfast(…)"
    needs: Sequence[str] = ("holdfast",)

    def __init__(
        self,
        activities: Iterable[Any],
        services: Mapping[type, Any],
        middleware: Iterable[MiddlewarePlacement],
        types: Iterable[type] | Mapping[str, type],
        policies: Mapping[str, EndpointPolicy],
    ) -> None:
        self.aliases = dict(types) if isinstance(types, Mapping) else {}
        """Classes by the name that stored data has for them."""
        classes = tuple(dict.fromkeys(self.aliases.values())) if isinstance(types, Mapping) else tuple(types)
        self.given = tuple(activities), dict(services), tuple(middleware), classes
        self.policies = dict(policies)

    def register(self, registration: Registration) -> None:
        activities, services, middleware, types = self.given
        registration.activity(*activities)
        registration.value_type(*types)
        for name, value_type in self.aliases.items():
            registration.value_alias(name, value_type)
        for service_type, instance in services.items():
            registration.service(service_type, instance)
        for placement in middleware:
            registration.middleware(placement)
        for name, policy in self.policies.items():
            registration.endpoint_policy(name, policy)
