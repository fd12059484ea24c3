"""Activities as classes: typed fields are the inputs, `execute` does the work.

    class Approve(Activity, pure=True, outcomes=("Approved", "Rejected")):
        amount: Decimal
        decision: str = output()

        def execute(self, context: Context) -> None:
            context.bookmark({"amount": self.amount}, resume=self.decided)

        def decided(self, context: Context, payload: Any) -> None:
            context.set_output("decision", payload["by"])
            context.complete("Approved" if payload["yes"] else "Rejected")

In a workflow, an object of the class (`Approve(amount=expr("order.total"))`) is a node of the definition, and its
fields may be expressions. During execution, another object of the class holds the evaluated values in the same fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from holdfast.authoring.describe import ClassFacts, describe_class, value_classes
from holdfast.authoring.fields import MISSING, InputSpec, OutputSpec, PortSpec, common
from holdfast.errors import ActivityDeclarationError
from holdfast.model.definition import Variable
from holdfast.model.descriptor import ActivityDescriptor, Kind
from holdfast.model.policy import ActivityOptions, JournalRule, MergeMode, OnLost, Retry
from holdfast.ports import Context

_NOTHING: Mapping[str, Any] = MappingProxyType({})

OPTIONS = ("retry", "timeout", "commit", "journal", "on_lost", "queue", "priority", "can_start", "merge")


class Activity:
    """Base class of activities written as classes, and of the objects that workflows are built from."""

    type_name: ClassVar[str]
    activity_type: ClassVar[ClassActivity]

    id: str | None = common(default=None, kw_only=True)
    name: str | None = common(default=None, kw_only=True)
    variables: Mapping[str, Any] | Iterable[Variable] = common(default=(), kw_only=True)
    metadata: Mapping[str, Any] = common(default=_NOTHING, kw_only=True)
    retry: Retry | None = common(default=None, kw_only=True)
    timeout: timedelta | None = common(default=None, kw_only=True)
    commit: str | None = common(default=None, kw_only=True)
    journal: JournalRule | None = common(default=None, kw_only=True)
    on_lost: OnLost | None = common(default=None, kw_only=True)
    queue: str | None = common(default=None, kw_only=True)
    priority: int = common(default=0, kw_only=True)
    can_start: bool = common(default=False, kw_only=True)
    merge: MergeMode | None = common(default=None, kw_only=True)

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        version: int = 1,
        pure: bool = False,
        outcomes: Iterable[str] = ("Done",),
        category: str = "General",
        display_name: str | None = None,
        icon: str | None = None,
        trigger: bool = False,
        terminal: bool = False,
        start: bool = False,
        container: bool = False,
        dynamic_outcomes: bool = False,
        browsable: bool = True,
        retry: Retry | None = None,
        timeout: timedelta | None = None,
        abstract: bool = False,
    ) -> None:
        super().__init_subclass__()
        cls.type_name = name or cls.__name__
        if abstract:
            return
        facts = ClassFacts(
            type=cls.type_name,
            version=version,
            kind=Kind.PURE if pure else Kind.EFFECT,
            outcomes=tuple(outcomes),
            category=category,
            display_name=display_name,
            icon=icon,
            trigger=trigger,
            terminal=terminal,
            start=start,
            container=container,
            dynamic_outcomes=dynamic_outcomes,
            browsable=browsable,
        )
        cls.activity_type = ClassActivity(cls, facts, ActivityOptions(retry=retry, timeout=timeout))
        if retry is not None:
            retry.declared()
        if hasattr(cls, "can_execute"):
            check_precondition(cls)

    def __init__(self, *args: Any, **given: Any) -> None:
        place(self, args, given)

    # -- behavior -----------------------------------------------------------------------------------------------------

    def execute(self, context: Context) -> Any:
        """Run the activity. May be `async def`."""
        raise ActivityDeclarationError(f"{type(self).__name__} has no execute(self, context) method.")

    def trigger_payloads(self) -> Iterable[Any]:
        """Payloads of the stimuli that start an instance here, if the activity is a trigger.

        Called when the workflow is published, with evaluated inputs. A stimulus of the activity's type whose payload
        equals one of these starts an instance. Default: the inputs.
        """
        specs = type(self).activity_type.specs
        return [{name: getattr(self, name) for name, spec in specs.items() if isinstance(spec, InputSpec)}]

    @classmethod
    def compile(cls, builder: Any) -> Any:
        """Compile one node to its operation. Only compiled activities override it (see `execution.builder`)."""
        return builder.objects(cls.activity_type)

    # -- connections ---------------------------------------------------------------------------------------------------

    def __rshift__(self, target: Activity) -> Link:
        """`a >> b`: a flowchart connection that is followed when `a` completes without an outcome."""
        return Link(self, None, target)

    def on(self, outcome: str) -> Exit:
        """`check.on("True") >> ship`: a connection for one outcome."""
        return Exit(self, outcome)

    def __repr__(self) -> str:
        return f"<{self.type_name} {getattr(self, 'id', None) or 'without id'}>"

    options: ClassVar[ActivityOptions] = ActivityOptions()


def check_precondition(cls: Any) -> None:
    """Raises `ActivityDeclarationError` if `can_execute` could not be called."""
    if inspect.iscoroutinefunction(cls.can_execute):
        raise ActivityDeclarationError(
            f"can_execute of {cls.__name__} is async, but it must not wait. Write def can_execute(self, context)."
        )
    if cls.compile.__func__ is not Activity.compile.__func__:  # type: ignore[attr-defined]  # a bound class method
        raise ActivityDeclarationError(
            f"{cls.__name__} has no execute method, so its can_execute would never be called. Put a condition around it."
        )


class Exit:
    """An activity and one of its outcomes, before it is connected."""

    __slots__ = ("outcome", "source")

    def __init__(self, source: Activity, outcome: str) -> None:
        self.source = source
        self.outcome = outcome

    def __rshift__(self, target: Activity) -> Link:
        return Link(self.source, self.outcome, target)


class Link:
    """A connection between two activity objects. `a >> b >> c` gives two connections."""

    __slots__ = ("delay", "outcome", "previous", "source", "target")

    def __init__(
        self,
        source: Activity,
        outcome: str | None,
        target: Activity,
        *,
        delay: timedelta | None = None,
        previous: tuple[Link, ...] = (),
    ) -> None:
        self.source = source
        self.outcome = outcome
        self.target = target
        self.delay = delay
        self.previous = previous

    def __rshift__(self, target: Activity) -> Link:
        return Link(self.target, None, target, previous=(*self.previous, self))

    def all(self) -> tuple[Link, ...]:
        return (*self.previous, self)

    def after(self, delay: timedelta) -> Link:
        """The same connection with a delay."""
        return Link(self.source, self.outcome, self.target, delay=delay, previous=self.previous)


def place(target: Activity, args: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Set the values given to an activity object: inputs, output bindings, children and options."""
    facts = type(target).activity_type
    names = list(facts.specs)
    if len(args) > len(names):
        raise ActivityDeclarationError(
            f"{target.type_name} takes {len(names)} fields ({', '.join(names)}), not {len(args)}."
        )
    options = {name: given.pop(name) for name in OPTIONS if name in given and name not in facts.specs}
    for word in ("id", "name", "metadata"):
        if word in given and word not in facts.specs:
            object.__setattr__(target, word, given.pop(word))
    if "variables" in given and "variables" not in facts.specs:
        object.__setattr__(target, "variables", declared(given.pop("variables")))
    if options:
        object.__setattr__(target, "options", ActivityOptions(**options))
    fields = {**dict(zip(names, args, strict=False)), **given}
    for name in fields:
        if name not in facts.specs:
            raise ActivityDeclarationError(
                f"{target.type_name} has no field '{name}'. It has: {', '.join(names) or 'none'}; "
                f"every activity also takes id, name, variables, metadata, {', '.join(OPTIONS)}."
            )
    object.__setattr__(target, "_given", fields)


def declared(variables: Mapping[str, Any] | Iterable[Variable]) -> tuple[Variable, ...]:
    """Variables from `{"total": 0}` or from a list of `Variable`s."""
    if isinstance(variables, Mapping):
        return tuple(Variable(name=name, default=default) for name, default in variables.items())
    return tuple(variables)


class ClassActivity:
    """A class as an `ActivityType`."""

    def __init__(self, cls: type[Activity], facts: ClassFacts, options: ActivityOptions) -> None:
        self.cls = cls
        self.facts = facts
        self.options = options
        self.specs = _specs(cls)
        self._descriptor: ActivityDescriptor | None = None

    @property
    def descriptor(self) -> ActivityDescriptor:
        # Described on first use: annotations may name classes that are defined later in the module.
        if self._descriptor is None:
            self._descriptor = describe_class(self.cls, self.facts, self.specs)
        return self._descriptor

    @cached_property
    def value_types(self) -> list[type]:
        return value_classes(self.cls)

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.cls.execute)

    @property
    def has_precondition(self) -> bool:
        return hasattr(self.cls, "can_execute")

    def compile(self, builder: Any) -> Any:
        return self.cls.compile(builder)

    def trigger_payloads(self, inputs: Mapping[str, Any]) -> list[Any]:
        return list(self.new(inputs, {}).trigger_payloads())

    def new(self, inputs: Mapping[str, Any], children: Mapping[str, Any]) -> Activity:
        """The object that executes, with evaluated values in its fields and children in its ports."""
        target = object.__new__(self.cls)
        for name, spec in self.specs.items():
            if isinstance(spec, PortSpec):
                value = children.get(name, () if spec.kind != "one" else None)
            elif isinstance(spec, OutputSpec):
                value = None
            else:
                value = inputs.get(name, None if spec.default is MISSING else spec.default)
            object.__setattr__(target, name, value)
        return target


def _specs(cls: type[Activity]) -> dict[str, InputSpec | OutputSpec | PortSpec]:
    """Fields of a class, those of its bases first."""
    found: dict[str, InputSpec | OutputSpec | PortSpec] = {}
    for base in reversed(cls.__mro__):
        if base in (Activity, object) or not issubclass(base, Activity):
            continue
        for name, annotation in inspect.get_annotations(base).items():
            if name.startswith("_") or "ClassVar" in str(annotation):
                continue
            default = base.__dict__.get(name, MISSING)
            known = isinstance(default, InputSpec | OutputSpec | PortSpec)
            found[name] = default if known else InputSpec(default=default)
    return found
