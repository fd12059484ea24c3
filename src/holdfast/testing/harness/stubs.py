"""Stubs for activities: the activity type stays, only its function is replaced."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from inspect import isawaitable, signature
from typing import Any, cast

from holdfast.authoring.function import FunctionActivity, FunctionActivityType
from holdfast.authoring.workflow import Workflow
from holdfast.errors import DefinitionError

Raised = BaseException | type[BaseException]

NOTHING: Any = object()


class Stub:
    """Answer that replaces an activity's run, and the calls that received it."""

    def __init__(self, *, returns: Any, raises: Raised | None, calls: Callable[..., Any] | None, times: int | None):
        given = [returns is not NOTHING, raises is not None, calls is not None]
        if sum(given) > 1:
            raise DefinitionError("A stub takes only one of returns, raises and calls.")
        self.times = times
        """Maximum number of answers; None is unlimited."""
        self.calls: list[dict[str, Any]] = []
        """Arguments of each call, by name."""
        self._returns = None if returns is NOTHING else returns
        self._raises = raises
        self._calls = calls

    @property
    def is_used_up(self) -> bool:
        return self.times is not None and len(self.calls) >= self.times

    def answer(self, arguments: dict[str, Any]) -> Any:
        self.calls.append(arguments)
        if self._raises is not None:
            raise self._raises if isinstance(self._raises, type) else copy.copy(self._raises)
        return self._calls(**arguments) if self._calls is not None else self._returns


class Stubs:
    """Stubs of one harness, by activity type, in the order they were added."""

    def __init__(self) -> None:
        self._stubs: dict[str, list[Stub]] = {}
        self._calls: dict[str, list[dict[str, Any]]] = {}
        self._made: dict[int, tuple[Any, Any]] = {}
        """Replacements by the id() of the original, because workflows share activities and may start themselves."""

    def add(self, activity: Any, stub: Stub) -> None:
        self._stubs.setdefault(type_of(activity), []).append(stub)

    def calls(self, activity: Any) -> list[dict[str, Any]]:
        """All calls of the activity, stubbed or not: arguments by name."""
        return list(self._calls.get(type_of(activity), ()))

    def stand_in(self, workflow: Workflow) -> Workflow:
        """A copy of the workflow, and of those it starts, whose activities use the stubs."""
        if id(workflow) in self._made:
            return cast("Workflow", self._made[id(workflow)][1])
        made = object.__new__(Workflow)
        self._made[id(workflow)] = (workflow, made)
        made.definition = workflow.definition
        made.value_types = workflow.value_types
        made.activity_types = tuple(self._replaced(workflow.activity_types))
        made.children = tuple(map(self.stand_in, workflow.children))
        return made

    def _replaced(self, types: Iterable[Any]) -> Iterable[Any]:
        for item in types:
            if id(item) not in self._made:
                self._made[id(item)] = (item, self._replace(item) if isinstance(item, FunctionActivityType) else item)
            yield self._made[id(item)][1]

    def _replace(self, activity_type: FunctionActivityType) -> FunctionActivityType:
        name = (
            activity_type.descriptor.type
        )  # read before copying, so that the copy keeps the descriptor of the real function
        real = activity_type.function
        _ = activity_type.value_types

        if activity_type.is_async:

            @functools.wraps(real)
            async def stand_in(*args: Any, **kwargs: Any) -> Any:
                found = self._answer(name, real, args, kwargs)
                return await found if isawaitable(found) else found

        else:

            @functools.wraps(real)
            def stand_in(*args: Any, **kwargs: Any) -> Any:
                return self._answer(name, real, args, kwargs)

        made = copy.copy(activity_type)
        made.function = stand_in
        made.cpu = False  # another process would not have the stubs
        return made

    def _answer(self, name: str, real: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        arguments = dict(signature(real).bind(*args, **kwargs).arguments)
        self._calls.setdefault(name, []).append(arguments)
        for stub in self._stubs.get(name, ()):
            if not stub.is_used_up:
                return stub.answer(arguments)
        return real(*args, **kwargs)


def type_of(activity: Any) -> str:
    """Activity type of an `@activity` function."""
    if not isinstance(activity, FunctionActivity):
        raise DefinitionError(f"{activity!r} is not an @activity function. Only @activity functions can be stubbed.")
    return activity.activity_type.descriptor.type
