"""Cache of compiled expressions by their text: a text that occurs in many definitions is compiled once.

Compiled code contains the positions of the names that it reads. The cache records the lookups of a compilation, and repeats
them for another place: if all of them have the same result, the compiled expression is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from holdfast.model.scope import Names
from holdfast.ports import CompiledExpression

ENTRIES_MAX = 2_000
VARIANTS_MAX = 8
"""Compiled forms of one text, for places where its names have other positions."""

Position = tuple[int, int] | None


class _RecordedNames(Names):
    """Names that record the lookups of variables and inputs."""

    __slots__ = ("inputs", "variables")

    def __init__(self, names: Names) -> None:
        super().__init__(names.shapes)
        self.variables: dict[str, Position] = {}
        self.inputs: dict[str, Position] = {}

    def variable(self, name: str) -> Position:
        found = self.variables[name] = super().variable(name)
        return found

    def input(self, name: str) -> Position:
        found = self.inputs[name] = super().input(name)
        return found


class _Variant(NamedTuple):
    depth: int
    variables: dict[str, Position]
    inputs: dict[str, Position]
    compiled: CompiledExpression

    def fits(self, names: Names) -> bool:
        """Repeat the lookups. If all are the same, all shapes that the expression reads are marked as exposed."""
        return (
            names.depth == self.depth
            and all(names.variable(name) == found for name, found in self.variables.items())
            and all(names.input(name) == found for name, found in self.inputs.items())
        )


class CompiledCache:
    """For languages whose compilation depends on the text, on `variable`, `input` and `depth` of the names, and on nothing
    else. Errors are not cached."""

    def __init__(self, entries: int = ENTRIES_MAX) -> None:
        self._entries = entries
        self._variants: dict[Hashable, list[_Variant]] = {}
        """In order of use, the latest last."""

    def compiled(
        self, key: Hashable, names: Names, compile: Callable[[Names], CompiledExpression]
    ) -> CompiledExpression:
        variants = self._variants.pop(key, [])
        found = next((item.compiled for item in variants if item.fits(names)), None)
        if found is None:
            recorded = _RecordedNames(names)
            found = compile(recorded)
            variants = [
                *variants[1 - VARIANTS_MAX :], _Variant(names.depth, recorded.variables, recorded.inputs, found)
            ]  # fmt: skip
        self._variants[key] = variants
        if len(self._variants) > self._entries:
            del self._variants[next(iter(self._variants))]
        return found
