"""References of a script, found in its text: values to pass in, and functions and wrappers to put around it.

The text only decides what is prepared. A name computed at run time is requested later (see `prelude`).
"""

from __future__ import annotations

import json
import re

from msgspec import Struct

from holdfast.expressions.javascript.prelude import FUNCTIONS, OUTCOMES, REFLECTION
from holdfast.model.scope import Names

Slot = tuple[int, int]

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_ANY_VARIABLES = re.compile(r"(?<![\w$.])variables\b(?!\s*(?:\??\.\s*[A-Za-z_$]|\[\s*['\"][^'\"]*['\"]\s*\]))")
_WRAPPER = re.compile(r"(get|set)([A-Za-z_$][\w$]*)")
_FROM = re.compile(r"(.+?)From(.+)")


class References(Struct, frozen=True):
    functions: frozenset[str] = frozenset()
    wrappers: tuple[str, ...] = ()
    """Text of functions such as `getTotal`."""
    variables: dict[str, Slot] = {}
    inputs: dict[str, Slot] = {}
    outputs: tuple[tuple[str, str], ...] = ()
    """(activity, output) of wrappers such as `getResultFromCheck`."""


def references_of(source: str, names: Names, *, is_script: bool) -> References:
    words = set(_IDENTIFIER.findall(source))
    allowed = FUNCTIONS if is_script else FUNCTIONS - OUTCOMES
    reflects = bool(words & REFLECTION)
    made = _Wrappers(names)
    for word in sorted(words - FUNCTIONS):
        if match := _WRAPPER.fullmatch(word):
            made.add(*match.group(0, 1, 2))
    if reflects:
        made.add_all()
    everything = reflects or _ANY_VARIABLES.search(source) is not None
    functions = frozenset((allowed if reflects else words & allowed) | made.functions)
    used = {name: slot for name, slot in made.variables.items() if everything or name in source or name in made.used}
    inputs_used = {
        name: slot for name, slot in made.inputs.items() if reflects or name in source or name in made.inputs_used
    }
    return References(
        functions,
        tuple(made.texts.values()),
        used if functions & {"variables", "getVariable", "setVariable"} else {},
        inputs_used if "getInput" in functions else {},
        tuple(made.outputs),
    )


def slot_of(kind: str, name: str, names: Names) -> Slot | None:
    """Slot of a value that a simple expression reads: a `variable` or `input` by its name, or the value of a `getter`."""
    if kind == "getter":
        match = _WRAPPER.fullmatch(name)
        if match is None or match[1] != "get" or name in FUNCTIONS:
            return None
        found, spelling = _Wrappers(names)._nearest((match[2], match[2][0].lower() + match[2][1:]))
        return _all(names, found).get(spelling) if found else None
    return _all(names, "names" if kind == "variable" else "inputs").get(name)


class _Wrappers:
    """Generates `getX`, `setX` and `getXFromY` for the names visible at one place of a definition."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.variables = _all(names, "names")
        self.inputs = _all(names, "inputs")
        self.texts: dict[str, str] = {}
        self.functions: set[str] = set()
        self.used: set[str] = set()
        self.inputs_used: set[str] = set()
        self.outputs: list[tuple[str, str]] = []

    def add(self, wrapper: str, verb: str, rest: str) -> None:
        spellings = (rest, rest[0].lower() + rest[1:])
        if verb == "set":
            for name in spellings:
                if name in self.variables:
                    self.used.add(name)
                    return self._make(wrapper, "setVariable", "value", f"{json.dumps(name)}, value")
            return None
        kind, name = self._nearest(spellings)
        if kind == "names":
            self.used.add(name)
            return self._make(wrapper, "getVariable", "", json.dumps(name))
        if kind == "inputs":
            self.inputs_used.add(name)
            return self._make(wrapper, "getInput", "", json.dumps(name))
        if match := _FROM.fullmatch(rest):
            self.outputs.append((match[2], match[1]))
            return self._make(wrapper, "getOutputFrom", "", f"{json.dumps(match[2])}, {json.dumps(match[1])}")
        return None

    def _make(self, wrapper: str, function: str, parameters: str, arguments: str) -> None:
        self.functions.add(function)
        self.texts[wrapper] = f"globalThis.{wrapper} = ({parameters}) => {function}({arguments});"

    def _nearest(self, spellings: tuple[str, ...]) -> tuple[str, str]:
        """Nearest scope first; within a scope, a variable takes precedence over an input."""
        for shape in self.names.shapes:
            for kind, table in (("names", shape.names), ("inputs", shape.inputs)):
                for name in spellings:
                    if name in table:
                        return kind, name
        return "", ""

    def add_all(self) -> None:
        """Generate all wrappers, for a script that may compute their names."""
        for name in (*self.variables, *self.inputs):
            if _IDENTIFIER.fullmatch(name):
                pascal = name[0].upper() + name[1:]
                for verb in ("get", "set"):
                    if f"{verb}{pascal}" not in FUNCTIONS:
                        self.add(f"{verb}{pascal}", verb, pascal)


def _all(names: Names, table: str) -> dict[str, Slot]:
    """All names of all scopes; the nearest scope wins."""
    found: dict[str, Slot] = {}
    for hops, shape in enumerate(names.shapes):
        for name, index in getattr(shape, table).items():
            found.setdefault(name, (hops, index))
    return found
