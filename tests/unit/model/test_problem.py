"""Problems as text, and the errors among them."""

from __future__ import annotations

from holdfast.model.problem import Problem, Severity, errors_in

ERROR = Problem(path="/root", code="unknown-type", message="Unknown type.", remedy="Register it.")
WARNING = Problem(path="", code="unknown-key", message="Ignored.", remedy="", severity=Severity.WARNING)


def test_a_problem_is_shown_with_position_and_remedy() -> None:
    assert str(ERROR) == "/root: Unknown type. Register it."
    assert str(WARNING) == "/: Ignored."


def test_warnings_are_not_errors() -> None:
    assert errors_in([WARNING, ERROR, WARNING]) == [ERROR]
