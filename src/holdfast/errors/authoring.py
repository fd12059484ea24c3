"""Errors in definitions, inputs, values, expressions, plugins and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors.base import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem


class DefinitionError(HoldfastError):
    """A definition that cannot run."""

    content: str = ""
    """The content hash of a stored version that cannot run in this process; empty if the error is about something else."""


def _listed(problems: Sequence[Problem]) -> str:
    return "\n".join(f"  {problem}" for problem in problems)


class InvalidDefinition(DefinitionError):
    """A definition has problems; `problems` lists all of them."""

    def __init__(self, problems: Sequence[Problem], *, name: str = "the definition") -> None:
        self.problems = tuple(problems)
        super().__init__(f"{name} has {len(self.problems)} problem(s):\n{_listed(self.problems)}")


class WorkflowUnknown(DefinitionError):
    """A start names a workflow that neither the store nor this process has."""


class CompositionCycle(DefinitionError):
    """A workflow contains itself as an activity."""

    def __init__(self, chain: Sequence[str]) -> None:
        self.chain = tuple(chain)
        super().__init__(
            f"Workflows use each other as activities in a cycle: {' → '.join(self.chain)}. "
            "Start one of them as an instance of its own with ExecuteWorkflow instead."
        )


class WorkflowRefused(DefinitionError):
    """A workflow function that cannot be compiled."""

    def __init__(self, rule: str, message: str, remedy: str, *, file: str, line: int, shown: str = "") -> None:
        self.rule = rule
        self.file = file
        self.line = line
        self.remedy = remedy
        super().__init__(f"{file}:{line}: {message}\n{shown}  Instead: {remedy} [{rule}]")


class InvalidCron(HoldfastError, ValueError):
    """An invalid cron expression or time zone."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(
            f"'{text}' is not a valid schedule: {reason}. Write five fields (minute hour day month weekday), six with "
            "seconds first, or @hourly, @daily, @weekly, @monthly, @yearly; and a zone such as Europe/Berlin."
        )


# -- values ------------------------------------------------------------------------------------------------------------


class InvalidInput(HoldfastError):
    """Inputs do not match their declaration; `problems` lists every mismatch. Nothing was written."""

    def __init__(self, problems: Sequence[Problem], *, name: str) -> None:
        self.problems = tuple(problems)
        super().__init__(f"The inputs of '{name}' have {len(self.problems)} problem(s):\n{_listed(self.problems)}")


class ValueRefused(HoldfastError, TypeError):
    """A value of a type that cannot be stored in the state of an instance."""

    def __init__(self, name: str, type_name: str, *, remedy: str) -> None:
        self.name = name
        self.type_name = type_name
        self.remedy = remedy
        super().__init__(f"'{name}' cannot hold a value of type {type_name}. {remedy}")


class UnknownValueType(HoldfastError):
    """Stored data names a value type that no registered workflow or activity declares."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"Stored data holds a value of type '{type_name}', which is not registered here. "
            f"Register a class under that name: Holdfast(types={{'{type_name}': NewClass}}), or deploy the module that has it."
        )


# -- expressions -------------------------------------------------------------------------------------------------------


class ExpressionError(HoldfastError):
    """An expression could not be compiled or evaluated."""

    def __init__(self, message: str, *, language: str, source: str) -> None:
        self.language = language
        self.source = source
        super().__init__(message)


class ExpressionSyntax(ExpressionError):
    """The text is not valid in its language."""


class ExpressionRefused(ExpressionError):
    """The sandbox does not allow an operation in the text."""


class ExpressionLimit(ExpressionError):
    """A limit of time, memory, size or recursion was exceeded."""


class ExpressionFailed(ExpressionError):
    """The evaluation of the expression raised an error."""


class UnknownLanguage(ExpressionError):
    """No evaluator is registered for this language."""


# -- composition -------------------------------------------------------------------------------------------------------


class PluginError(HoldfastError):
    """Plugins that conflict or do not load."""


class ActivityDeclarationError(HoldfastError, TypeError):
    """An @activity function or Activity class that cannot be described as an activity."""


class SettingsError(HoldfastError, ValueError):
    """An unknown setting or an invalid value."""


class ConversionError(HoldfastError):
    """A document that is not an Elsa 3 workflow definition."""
