"""What is measured: figures with a stable name, a meaning and a goal; groups that measure some of them together.

A new group is a module with a `GROUP`, named in `groups.py`. Its `measure` gives a value for each of its figures; figures
that are a ratio are measured by the same group as both their sides, so that these run interleaved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


class UnknownFigure(Exception):
    """A name on the command line that no figure has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no figure '{name}'. Known: {', '.join(sorted(known))}.")


class Unmeasurable(Exception):
    """What a group needs is not to be had here (another project's package, a server); the message says what."""


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    meaning: str
    goal: float | None = None
    """None: printed for the reader, with nothing promised."""
    at_least: bool = False
    """The goal is a floor (a ratio in our favour) and not a ceiling (a cost)."""

    def is_met(self, value: float) -> bool | None:
        if self.goal is None:
            return None
        return value >= self.goal if self.at_least else value <= self.goal

    @property
    def goal_text(self) -> str:
        return "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {self.goal:g}"


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to look: more rounds, steadier figures."""

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
    """The groups to run for these figures, groups or beginnings of names (`engine`, `engine.us_per_activity`); none: all."""
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
