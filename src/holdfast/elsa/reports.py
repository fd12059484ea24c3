"""Problems of a conversion, with their location in the document."""

from __future__ import annotations

from holdfast.model.problem import Problem, Severity


class Reports:
    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def error(self, path: str, code: str, message: str, remedy: str) -> None:
        """Report that the workflow cannot run unchanged."""
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy))

    def warning(self, path: str, code: str, message: str, remedy: str) -> None:
        """Report that the workflow runs, but may behave differently."""
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy, severity=Severity.WARNING))
