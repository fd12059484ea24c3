"""Descriptors of activity types, for the compiler, the validator and the Studio."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct


class Kind(StrEnum):
    PURE = "pure"
    """Runs inside a segment: no I/O, and it may be discarded and run again."""
    EFFECT = "effect"
    """Has external effects: recorded before it starts; its result returns as a stimulus."""


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
    """Never copied to the journal, incidents or logs."""
    evaluated: bool = True
    """False: the activity evaluates it itself, any number of times (the condition of While)."""
    shown_when: Mapping[str, Any] | None = None
    """`{input: value}` or `{input: [values]}`: designers show the input only if the others have these values. Execution
    ignores it."""


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
    """Variables that the activity passes to this child (the current value of a loop)."""
    named_by: str | None = None
    """The input that renames the first of them."""
    keys: tuple[str, ...] = ()
    """Allowed keys of its entries; empty allows any."""


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
    """Further outcomes are derived from its inputs (the labels of a FlowSwitch)."""
    trigger: bool = False
    terminal: bool = False
    """Its completion ends the enclosing container (Break, Complete, End, Finish)."""
    start: bool = False
    container: bool = False
    browsable: bool = True
    any_case: bool = False
    """Names of inputs and outputs are case-insensitive: a workflow used as an activity."""

    def spelled(self, name: str) -> str:
        """Normalized name for the comparison of inputs and outputs."""
        return name.lower() if self.any_case else name

    def input(self, name: str) -> InputDescriptor | None:
        return next((item for item in self.inputs if item.name == name), None)

    def output(self, name: str) -> OutputDescriptor | None:
        return next((item for item in self.outputs if item.name == name), None)

    def port(self, name: str) -> PortDescriptor | None:
        return next((item for item in self.ports if item.name == name), None)
