"""Figures with a stable name, a meaning and a goal, and groups that measure several figures together.

A new group is a module with a `GROUP`, listed in `groups.py`. Its `measure` returns a value for each of its figures. A ratio
is measured by the same group as both of its sides, so that these run interleaved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


class UnknownFigure(Exception):
    """A name on the command line that matches no figure."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no figure '{name}'. Known: {', '.join(sorted(known))}.")


class Unmeasurable(Exception):
    """A group lacks a requirement (a package of another project, a server); the message names it."""


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    meaning: str
    goal: float | None = None
    """None: informative, without a goal."""
    at_least: bool = False
    """The goal is a minimum (a ratio) and not a maximum (a cost)."""

    def is_met(self, value: float) -> bool | None:
        if self.goal is None:
            return None
        return value >= self.goal if self.at_least else value <= self.goal

    @property
    def goal_text(self) -> str:
        return "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {self.goal:g}"


@dataclass(frozen=True, slots=True)
class Effort:
    """Amount of measuring: more rounds give steadier figures."""

    rounds: int = 25


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    figures: tuple[Figure, ...]
    measure: Callable[[Effort], Mapping[str, float]]

    def __post_init__(self) -> None:
        names = [figure.name for figure in self.figures]
        assert len(set(names)) == len(names), f"The group {self.name} names a figure twice."


def chosen(groups: Iterable[Group], names: Iterable[str]) -> list[Group]:
    """Groups of the named figures, groups or name prefixes (`engine`, `engine.us_per_activity`); all without names."""
    every = list(groups)
    wanted = list(names)
    for name in wanted:
        if not any(matches(figure, group, name) for group in every for figure in group.figures):
            raise UnknownFigure(name, (figure.name for group in every for figure in group.figures))
    if not wanted:
        return every
    return [
        group for group in every if any(matches(figure, group, name) for figure in group.figures for name in wanted)
    ]


def matches(figure: Figure, group: Group, name: str) -> bool:
    return name in (group.name, figure.name) or figure.name.startswith(f"{name}.")
