"""Field declarations of Activity classes: inputs (a plain annotation), outputs, and ports for children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from holdfast.model.definition import Expression

MISSING: Any = Expression("missing", None)
"""Marker for a missing value, distinct from None."""


class InputSpec(Struct, frozen=True, kw_only=True):
    default: Any = MISSING
    display_name: str | None = None
    description: str | None = None
    editor: str | None = None
    secret: bool = False
    evaluated: bool = True
    shown_when: Mapping[str, Any] | None = None


class OutputSpec(Struct, frozen=True, kw_only=True):
    display_name: str | None = None
    description: str | None = None


class PortSpec(Struct, frozen=True, kw_only=True):
    kind: str = "one"
    variables: tuple[str, ...] = ()
    named_by: str | None = None
    keys: tuple[str, ...] = ()
    display_name: str | None = None


def field(
    *,
    default: Any = MISSING,
    display_name: str | None = None,
    description: str | None = None,
    editor: str | None = None,
    secret: bool = False,
    evaluated: bool = True,
    shown_when: Mapping[str, Any] | None = None,
    kw_only: bool = False,
) -> Any:
    """Declare an input with details.

    `secret`: never journaled. `evaluated=False`: the activity gets a callable. `shown_when={"method": ["POST",
    "PUT"]}`: designers show the input only while the other inputs have one of these values. `kw_only`: type checkers do
    not accept it as a positional argument.
    """
    return InputSpec(
        default=default,
        display_name=display_name,
        description=description,
        editor=editor,
        secret=secret,
        evaluated=evaluated,
        shown_when=shown_when,
    )


def output(*, display_name: str | None = None, description: str | None = None) -> Any:
    """Declare an output. In a workflow, set it to the name of the variable that receives the value."""
    return OutputSpec(display_name=display_name, description=description)


def port(*, variables: tuple[str, ...] = (), named_by: str | None = None, display_name: str | None = None) -> Any:
    """Declare a port for one child. `variables` are passed to the child by name when it is scheduled.

    The input `named_by` gives the first variable another name.
    """
    return PortSpec(kind="one", variables=variables, named_by=named_by, display_name=display_name)


def children(*, variables: tuple[str, ...] = (), display_name: str | None = None) -> Any:
    """Declare a port for several children."""
    return PortSpec(kind="many", variables=variables, display_name=display_name)


def entries(*, keys: tuple[str, ...] = (), variables: tuple[str, ...] = (), display_name: str | None = None) -> Any:
    """Declare a port for a list of dicts that contain data and activities, such as the cases of a Switch.

    `keys` are the allowed keys; empty allows any.
    """
    return PortSpec(kind="entries", keys=keys, variables=variables, display_name=display_name)


def common(*, default: Any, kw_only: bool = True) -> Any:
    """Declare a keyword argument that all activities accept in addition to their own fields."""
    return default


# -- expressions -------------------------------------------------------------------------------------------------------


def expr(source: str, language: str = "python") -> Any:
    """An expression as an input: `If(expr("total > 1000"), …)`. Typed as Any, because any input accepts it."""
    return Expression(language, source)


def variable(name: str) -> Any:
    """The value of a variable as an input."""
    return Expression("variable", name)


def literal(value: Any) -> Any:
    """A literal value that must not be evaluated, even if it looks like an expression."""
    return Expression("literal", value)
