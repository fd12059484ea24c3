"""What the fields of an Activity class are: inputs (a plain annotation), outputs, and ports for children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from holdfast.model.definition import Expression

MISSING: Any = Expression("missing", None)
"""No value was given: not even None."""


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
    """An input with more to say than its type. `secret`: never journaled. `evaluated=False`: a callable is handed in.

    `shown_when={"method": ["POST", "PUT"]}`: a designer asks for it only while the other inputs have (one of) these values.
    `kw_only` keeps type checkers from taking it by position.
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
    """An output. Where the activity is placed, give it the name of the variable that receives it."""
    return OutputSpec(display_name=display_name, description=description)


def port(*, variables: tuple[str, ...] = (), named_by: str | None = None, display_name: str | None = None) -> Any:
    """A place for one child. `variables` are handed to it by name when it is scheduled; the input `named_by` gives the
    first of them another name."""
    return PortSpec(kind="one", variables=variables, named_by=named_by, display_name=display_name)


def children(*, variables: tuple[str, ...] = (), display_name: str | None = None) -> Any:
    """A place for several children."""
    return PortSpec(kind="many", variables=variables, display_name=display_name)


def entries(*, keys: tuple[str, ...] = (), variables: tuple[str, ...] = (), display_name: str | None = None) -> Any:
    """A place for a list of dicts that hold data and activities together, such as the cases of a Switch. `keys` are what
    they may have; none means any."""
    return PortSpec(kind="entries", keys=keys, variables=variables, display_name=display_name)


def common(*, default: Any, kw_only: bool = True) -> Any:
    """What every activity takes beside its own fields: by keyword only."""
    return default


# -- expressions -------------------------------------------------------------------------------------------------------


def expr(source: str, language: str = "python") -> Any:
    """An expression as an input: `If(expr("total > 1000"), …)`. Typed as Any, since any input may be one."""
    return Expression(language, source)


def variable(name: str) -> Any:
    """The value of a variable as an input."""
    return Expression("variable", name)


def literal(value: Any) -> Any:
    """A value that looks like an expression and is none."""
    return Expression("literal", value)
