"""Workflow: a root activity with declared inputs, outputs and variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from holdfast.authoring.activity import Activity, declared
from holdfast.authoring.tree import TreeReader
from holdfast.errors import ActivityDeclarationError
from holdfast.model.definition import (
    ActivationStrategy,
    Definition,
    DefinitionOptions,
    IncidentStrategy,
    InputDeclaration,
    OutputDeclaration,
    Variable,
)
from holdfast.model.types import describe
from holdfast.model.values.registry import is_registrable


class Workflow:
    """A definition written as objects.

    `inputs` and `outputs` are names with Python types (`{"order_id": str}`) or declarations; `variables` are names with
    defaults (`{"total": 0}`) or declarations.
    """

    def __init__(
        self,
        root: Activity,
        *,
        id: str | None = None,
        name: str | None = None,
        version: int = 1,
        description: str | None = None,
        inputs: Mapping[str, Any] | Iterable[InputDeclaration] = (),
        outputs: Mapping[str, Any] | Iterable[OutputDeclaration] = (),
        variables: Mapping[str, Any] | Iterable[Variable] = (),
        outcomes: Iterable[str] = (),
        activation: str = ActivationStrategy.ALWAYS,
        incident: str = IncidentStrategy.FAULT,
        commit: str | None = None,
        timeout: timedelta | None = None,
        usable_as_activity: bool = False,
        flowchart_mode: str | None = None,
        labels: Iterable[str] = (),
        options: DefinitionOptions | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """`options` replaces the arguments of the same names."""
        reader = TreeReader()
        try:
            node = reader.node(root)
        except RecursionError:
            raise ActivityDeclarationError(
                "The activities are nested too deeply. Move inner parts to separate workflows, or use a Flowchart."
            ) from None
        self.activity_types: tuple[Any, ...] = tuple(reader.activity_types.values())
        """Types of its activities. A runner needs no registration for them."""
        self.children: tuple[Workflow, ...] = ()
        """Workflows that it starts; they are registered together with it."""
        self.value_types = _classes([*_annotations(inputs), *_annotations(outputs)])
        self.definition = Definition(
            id=id or name or "workflow",
            root=node,
            name=name or id,
            version=version,
            description=description,
            inputs=_inputs(inputs),
            outputs=_outputs(outputs),
            variables=declared(variables),
            outcomes=tuple(outcomes),
            options=options
            or DefinitionOptions(
                activation=activation,
                incident=incident,
                commit=commit,
                timeout=timeout,
                usable_as_activity=usable_as_activity,
                flowchart_mode=flowchart_mode,
            ),
            labels=tuple(labels),
            extra=dict(extra or {}),
        )

    def __repr__(self) -> str:
        return f"<Workflow {self.definition.title}>"


def _annotations(declarations: Any) -> list[Any]:
    return list(declarations.values()) if isinstance(declarations, Mapping) else []


def _classes(annotations: Iterable[Any]) -> tuple[type, ...]:
    return tuple(item for item in annotations if isinstance(item, type) and is_registrable(item))


def _inputs(declarations: Mapping[str, Any] | Iterable[InputDeclaration]) -> tuple[InputDeclaration, ...]:
    if not isinstance(declarations, Mapping):
        return tuple(declarations)
    return tuple(
        InputDeclaration(name=name, type=describe(annotation)[0], required=True)
        for name, annotation in declarations.items()
    )


def _outputs(declarations: Mapping[str, Any] | Iterable[OutputDeclaration]) -> tuple[OutputDeclaration, ...]:
    if not isinstance(declarations, Mapping):
        return tuple(declarations)
    return tuple(
        OutputDeclaration(name=name, type=describe(annotation)[0]) for name, annotation in declarations.items()
    )
