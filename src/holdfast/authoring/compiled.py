"""`@workflow`: an async function as a workflow. A direct call runs the function; an engine compiles it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Iterable
from datetime import timedelta
from typing import Any, Generic, ParamSpec, TypeVar, overload

from holdfast.authoring.compiler import Compiled, check_function, compile_function, read_source
from holdfast.authoring.start_options import Call, StartOptions
from holdfast.authoring.workflow import Workflow
from holdfast.errors import ActivityDeclarationError, WorkflowRefused
from holdfast.model.definition import ActivationStrategy, Definition, DefinitionOptions, IncidentStrategy

P = ParamSpec("P")
R = TypeVar("R")


class WorkflowFunction(Workflow, Generic[P, R]):
    """A workflow written as a Python function.

    The decorator compiles the function once, so that unsupported code is refused at import. Names and constants that
    are defined later in the module are resolved when the definition is first used.
    """

    __holdfast_workflow__ = True

    def __init__(
        self,
        function: Callable[P, Coroutine[Any, Any, R]],
        *,
        id: str,
        version: int,
        options: DefinitionOptions,
        labels: Any,
    ) -> None:
        self.function = function
        self.id = id
        self._version = version
        self._options = options
        self._labels = tuple(labels)
        functools.update_wrapper(self, function)
        compile_early(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        return self.function(*args, **kwargs)

    def options(
        self,
        *,
        instance_id: str | None = None,
        correlation_id: str | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Call[P, R]:
        """The same workflow with options for one start: `app.start(fulfil.options(correlation_id="7"), order)`."""
        given = StartOptions(
            instance_id=instance_id, correlation_id=correlation_id, name=name, idempotency_key=idempotency_key
        )
        return Call(self, given)

    def __getattr__(self, name: str) -> Any:
        """Compile when the definition or its types are first used."""
        if name not in ("definition", "activity_types", "value_types", "children"):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'.")
        compiled = compile_function(self.function)
        self.activity_types = compiled.activity_types
        self.value_types = compiled.value_types
        self.children = compiled.children
        self.definition = self._define(compiled)
        return self.__dict__[name]

    def _define(self, compiled: Compiled) -> Definition:
        place = compiled.source.place
        return Definition(
            id=self.id,
            name=self.id,
            root=compiled.root.frozen(),
            version=self._version,
            description=compiled.source.doc,
            inputs=compiled.inputs,
            outputs=compiled.outputs,
            options=self._options,
            labels=self._labels,
            metadata={
                "origin": "code",
                "module": compiled.source.module,
                "function": compiled.source.name,
                "source": {"text": "\n".join(place.lines), "line": place.offset + 1},
            },
        )

    def __repr__(self) -> str:
        return f"<workflow {self.id}>"


_KNOWN_LATER = frozenset({"await-unknown", "unknown-name"})
"""Refusals that may disappear once the whole module is imported."""


def compile_early(function: Callable[..., Any]) -> None:
    """Raise the refusals that are already certain at import."""
    check_function(read_source(function))
    try:
        compile_function(function)
    except WorkflowRefused as refusal:
        if refusal.rule not in _KNOWN_LATER:
            raise
    except ActivityDeclarationError:
        # The annotations of an activity name classes that are defined later. Its own error is raised on use.
        return


@overload
def workflow(function: Callable[P, Coroutine[Any, Any, R]], /) -> WorkflowFunction[P, R]: ...
@overload
def workflow(
    *,
    id: str | None = None,
    version: int = 1,
    activation: str = ActivationStrategy.ALWAYS,
    incident: IncidentStrategy = IncidentStrategy.FAULT,
    timeout: timedelta | None = None,
    labels: Iterable[str] = (),
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], WorkflowFunction[P, R]]: ...
def workflow(
    function: Callable[..., Any] | None = None,
    /,
    *,
    id: str | None = None,
    version: int = 1,
    activation: str = ActivationStrategy.ALWAYS,
    incident: IncidentStrategy = IncidentStrategy.FAULT,
    timeout: timedelta | None = None,
    labels: Iterable[str] = (),
) -> Any:
    """Make an async function a workflow. Unsupported code is refused at import, with its line and a remedy."""

    def decorate(target: Callable[..., Any]) -> WorkflowFunction[..., Any]:
        options = DefinitionOptions(activation=activation, incident=incident, timeout=timeout)
        return WorkflowFunction(target, id=id or target.__name__, version=version, options=options, labels=labels)

    return decorate if function is None else decorate(function)
