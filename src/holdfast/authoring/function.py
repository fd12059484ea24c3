"""Activities as functions. A direct call runs the plain function; `bind` places the activity in a workflow.

@activity(retry=Retry(attempts=5), timeout=timedelta(seconds=30))
async def charge(order: Order) -> Receipt: ...

Sequence(charge.bind(order=expr("order"), result="receipt"), …)
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from types import NoneType
from typing import Any, Generic, ParamSpec, TypeVar, get_args, overload

from holdfast.authoring.activity import OPTIONS, Activity
from holdfast.authoring.describe import ClassFacts, describe_function, hints_of, value_classes
from holdfast.errors import ActivityDeclarationError
from holdfast.model.descriptor import ActivityDescriptor, Kind
from holdfast.model.policy import ActivityOptions, OnLost, Retry
from holdfast.ports import Context

P = ParamSpec("P")
R = TypeVar("R")


class FunctionActivity(Generic[P, R]):
    """A function that is an activity. Call it directly, or `bind` it into a workflow."""

    def __init__(self, function: Callable[P, R], facts: ClassFacts, options: ActivityOptions, **more: Any) -> None:
        self.function = function
        self.activity_type = FunctionActivityType(function, facts, options, **more)
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def options(self, **options: Any) -> Callable[P, R]:
        """The same call with other options, in a workflow function: `await charge.options(retry=…)(order)`.

        In a direct call it is the plain function, because only the engine applies options.
        """
        ActivityOptions(**options)
        return self.function

    def bind(self, *args: Any, result: str | None = None, **given: Any) -> Activity:
        """Place the activity in a workflow.

        Inputs are values or expressions; `result` names the variable for the return value.
        """
        return BoundFunction(self, args, result, given)

    def __repr__(self) -> str:
        return f"<activity {self.activity_type.descriptor.type}>"


class FunctionActivityType:
    """A function as an `ActivityType`."""

    def __init__(
        self,
        function: Callable[..., Any],
        facts: ClassFacts,
        options: ActivityOptions,
        *,
        cpu: bool,
        aliases: tuple[str, ...],
        secrets: frozenset[str],
    ) -> None:
        self.function = function
        self.facts = facts
        self.options = options
        self.aliases = aliases
        self.secrets = secrets
        self.cpu = cpu
        self.is_async = inspect.iscoroutinefunction(function)
        self.context_name = _context_parameter(function)
        self._descriptor: ActivityDescriptor | None = None
        if cpu and (self.is_async or self.context_name):
            raise ActivityDeclarationError(
                f"@activity(cpu=True) {facts.type} runs in another process: it must be a plain function without a Context."
            )

    @property
    def mode(self) -> str:
        if self.is_async:
            return "async"
        return "process" if self.cpu else "thread"

    @property
    def descriptor(self) -> ActivityDescriptor:
        if self._descriptor is None:
            self._descriptor = describe_function(self.function, self.facts, self.context_name, self.secrets)
        return self._descriptor

    @functools.cached_property
    def returns(self) -> Any:
        """The annotation of the result."""
        return hints_of(self.function).get("return", Any)

    @functools.cached_property
    def value_types(self) -> list[type]:
        return value_classes(self.function)

    def compile(self, builder: Any) -> Any:
        return builder.function(self)


def _context_parameter(function: Callable[..., Any]) -> str | None:
    """Name of the parameter annotated with `Context` or `Context | None`. Annotations may still be text."""
    for name, parameter in inspect.signature(function).parameters.items():
        if _is_context(parameter.annotation):
            return name
    return None


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        names = {part.rpartition(".")[2] for part in re.findall(r"[\w.]+", annotation)}
        return names - {"None", "Optional", "Union"} == {"Context"}
    return annotation is Context or set(get_args(annotation)) == {Context, NoneType}


class BoundFunction(Activity, abstract=True):
    """A function activity placed in a workflow."""

    def __init__(
        self, function: FunctionActivity[..., Any], args: tuple[Any, ...], result: str | None, given: dict[str, Any]
    ) -> None:
        activity_type = function.activity_type
        names = [item.name for item in activity_type.descriptor.inputs]
        self.function = function
        self.result = result
        options = {name: given.pop(name) for name in OPTIONS if name in given and name not in names}
        for common in ("id", "name", "metadata"):
            if common in given and common not in names:
                object.__setattr__(self, common, given.pop(common))
        if options:
            object.__setattr__(self, "options", ActivityOptions(**options))
        self._given = {**dict(zip(names, args, strict=False)), **given}
        unknown = [name for name in self._given if name not in names]
        if unknown or len(args) > len(names):
            raise ActivityDeclarationError(
                f"{activity_type.descriptor.type} takes the inputs {', '.join(names) or 'none'}; "
                f"not {', '.join(unknown) or f'{len(args)} positional arguments'}."
            )


@overload
def activity(function: Callable[P, R], /) -> FunctionActivity[P, R]: ...
@overload
def activity(
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    pure: bool = False,
    cpu: bool = False,
    retry: Retry | None = None,
    timeout: timedelta | None = None,
    on_lost: OnLost | None = None,
    queue: str | None = None,
    priority: int = 0,
    outcomes: Iterable[str] = ("Done",),
    category: str = "General",
    display_name: str | None = None,
    icon: str | None = None,
    secrets: Iterable[str] = (),
) -> Callable[[Callable[P, R]], FunctionActivity[P, R]]: ...
def activity(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    pure: bool = False,
    cpu: bool = False,
    retry: Retry | None = None,
    timeout: timedelta | None = None,
    on_lost: OnLost | None = None,
    queue: str | None = None,
    priority: int = 0,
    outcomes: Iterable[str] = ("Done",),
    category: str = "General",
    display_name: str | None = None,
    icon: str | None = None,
    secrets: Iterable[str] = (),
) -> Any:
    """Make a function an activity.

    Without `pure=True` it is an effect: it is recorded before it runs, survives a crash, and is retried as `retry`
    says.
    """

    def decorate(target: Callable[..., Any]) -> FunctionActivity[..., Any]:
        if pure and cpu:
            raise ActivityDeclarationError(
                f"@activity {target.__name__}: pure and cpu are mutually exclusive; choose one."
            )
        facts = ClassFacts(
            type=name or target.__name__,
            version=version,
            kind=Kind.PURE if pure else Kind.EFFECT,
            outcomes=tuple(outcomes),
            category=category,
            display_name=display_name,
            icon=icon,
            trigger=False,
            terminal=False,
            start=False,
            container=False,
            dynamic_outcomes=False,
            browsable=True,
        )
        options = ActivityOptions(retry=retry, timeout=timeout, on_lost=on_lost, queue=queue, priority=priority)
        if retry is not None:
            retry.declared()
        return FunctionActivity(target, facts, options, cpu=cpu, aliases=tuple(aliases), secrets=frozenset(secrets))

    return decorate if function is None else decorate(function)
