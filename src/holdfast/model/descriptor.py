"""How an activity type describes itself: what the compiler, the validator and the Studio need to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct


class Kind(StrEnum):
    PURE = "pure"
    """Runs inside a segment: no I/O, may be thrown away and run again."""
    EFFECT = "effect"
    """Touches the world: recorded first, then started; its result comes back as a stimulus."""


class PortKind(StrEnum):
    ONE = "one"
    MANY = "many"
    ENTRIES = "entries"


class InputDescriptor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    type: str = "any"
    schema: Mapping[str, Any] = {}
    required: bool = False
    default: Any = None
    display_name: str | None = None
    description: str | None = None
    editor: str | None = None
    secret: bool = False
    """Never copied to journal, incidents or logs."""
    evaluated: bool = True
    """False: the activity evaluates it itself, as often as it likes (the condition of While)."""
    shown_when: Mapping[str, Any] | None = None
    """`{input: value}` or `{input: [values]}`: designers ask for it only while the others have these. It runs all the same."""


class OutputDescriptor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    type: str = "any"
    schema: Mapping[str, Any] = {}
    display_name: str | None = None
    description: str | None = None


class PortDescriptor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    kind: PortKind = PortKind.ONE
    display_name: str | None = None
    variables: tuple[str, ...] = ()
    """Variables that the activity hands to this child (a loop's current value)."""
    named_by: str | None = None
    """The input that gives the first of them another name."""
    keys: tuple[str, ...] = ()
    """What its entries may have; none means any."""


class ActivityDescriptor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str
    version: int = 1
    kind: Kind = Kind.EFFECT
    display_name: str | None = None
    description: str | None = None
    category: str = "General"
    icon: str | None = None
    inputs: tuple[InputDescriptor, ...] = ()
    outputs: tuple[OutputDescriptor, ...] = ()
    ports: tuple[PortDescriptor, ...] = ()
    outcomes: tuple[str, ...] = ("Done",)
    dynamic_outcomes: bool = False
    """Further outcomes come from its inputs (the labels of a FlowSwitch)."""
    trigger: bool = False
    terminal: bool = False
    """A container that sees it complete ends (Break, Complete, End, Finish)."""
    start: bool = False
    container: bool = False
    browsable: bool = True
    any_case: bool = False
    """Its inputs and outputs are found however their names are cased: a workflow that is used as an activity."""

    def spelled(self, name: str) -> str:
        """How names of inputs and outputs compare."""
        return name.lower() if self.any_case else name

    def input(self, name: str) -> InputDescriptor | None:
        return next((item for item in self.inputs if item.name == name), None)

    def port(self, name: str) -> PortDescriptor | None:
        return next((item for item in self.ports if item.name == name), None)
