"""A place in a definition to evaluate expressions at: a workflow's scope with a container's scope inside."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.expressions import standard_evaluators
from holdfast.model.scope import Names, Scope, Shape
from holdfast.ports import ScriptResult

EVALUATORS = standard_evaluators()


class Facts:
    def __init__(self) -> None:
        self.id = "instance-1"
        self.definition_id = "order"
        self.definition_version = 3
        self.definition_version_id = "order-3"
        self.parent_id: str | None = None
        self.correlation_id: str | None = "customer-7"
        self.name: str | None = "First order"
        self.last_result: Any = "the last"
        self.outputs: dict[tuple[str, str | None], Any] = {("check", "total"): 42, ("check", None): "only"}

    def output_of(self, activity: str, output: str | None) -> Any:
        if not any(name == activity for name, _ in self.outputs):
            raise LookupError(activity)
        return self.outputs.get((activity, output))


class Place:
    """Variables of a container around the expression (`inner`), of the workflow (`variables`) and its inputs."""

    def __init__(
        self, variables: dict[str, Any], inputs: dict[str, Any] | None = None, inner: dict[str, Any] | None = None
    ) -> None:
        outside, inside = Shape("workflow", boundary=True), Shape("container")
        for shape, table, values in (
            (outside, outside.names, variables),
            (outside, outside.inputs, inputs or {}),
            (inside, inside.names, inner or {}),
        ):
            for name in values:
                shape.add(table, name, "any", None)
        outside.ids.update({f"id-of-{name}": index for name, index in outside.names.items()})
        self.facts = Facts()
        self.outside: Scope = outside.open(self.facts)
        self.scope: Scope = inside.open(self.outside)
        self.names = Names((inside, outside))
        self.outside[2:] = [*variables.values(), *(inputs or {}).values()]
        self.scope[2:] = (inner or {}).values()

    def evaluate(self, language: str, source: Any) -> Any:
        return EVALUATORS[language].compile(source, self.names).evaluate(self.scope)

    def run(self, language: str, source: str) -> ScriptResult:
        return EVALUATORS[language].compile_script(source, self.names).run(self.scope)

    def value(self, name: str) -> Any:
        found = self.names.variable(name)
        assert found is not None
        hops, index = found
        return (self.outside if hops else self.scope)[index]


class PlaceMaker:
    def __call__(
        self, variables: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, **inner: Any
    ) -> Place:
        return Place(variables or {}, inputs, inner)


@pytest.fixture(scope="session")
def place() -> PlaceMaker:
    return PlaceMaker()
