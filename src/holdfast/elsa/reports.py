"""Collects what a conversion could not carry over, with the place in the document."""

from __future__ import annotations

from holdfast.model.problem import Problem, Severity


class Reports:
    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def error(self, path: str, code: str, message: str, remedy: str) -> None:
        """It cannot run as it is."""
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy))

    def warning(self, path: str, code: str, message: str, remedy: str) -> None:
        """It runs, though not in every respect as it did there."""
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy, severity=Severity.WARNING))
