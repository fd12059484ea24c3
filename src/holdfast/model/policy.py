"""Options of an activity: retry, timeout, commit, journal, queue. They are separate from its inputs."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from holdfast.errors import ActivityDeclarationError


class Retry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Run a failed activity again: the n-th wait is `delay * factor ** (n - 1)`, at most `delay_max`, ± `jitter`."""

    attempts: int = 3
    """Total number of attempts, including the first."""
    delay: timedelta = timedelta(seconds=1)
    factor: float = 2.0
    delay_max: timedelta = timedelta(minutes=5)
    jitter: float = 0.1
    """Random share of the delay, 0 to 1."""
    on: tuple[str, ...] = ()
    """Names of exception types to retry; empty retries all."""
    never_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given: tuple[object, ...] = (*self.on, *self.never_on)
        for name in given:
            if not isinstance(name, str):  # A class would never match a name.
                given_name = getattr(name, "__name__", name)
                raise ActivityDeclarationError(f"Retry(on=…) takes names of exceptions. Write on=('{given_name}',).")
        check_duration("delay", self.delay)
        check_duration("delay_max", self.delay_max)

    def declared(self) -> Retry:
        """Returns itself if it is valid in the declaration of an activity. In documents, the checks report it instead."""
        if self.attempts < 1:
            raise ActivityDeclarationError(
                f"Retry(attempts={self.attempts}) never runs the activity: the first attempt counts. Write attempts=1 to "
                "disable retries, or leave `retry` out."
            )
        return self


def check_duration(name: str, value: object) -> None:
    """Refuses a plain number of seconds."""
    if not isinstance(value, timedelta):
        raise ActivityDeclarationError(
            f"{name}={value!r} is not a duration. Write {name}=timedelta(seconds={value!r})."
        )


class OnLost(StrEnum):
    """Policy for an effect whose node died before its result was committed."""

    RETRY = "retry"
    FAIL = "fail"
    HOLD = "hold"


_LOST = frozenset(OnLost)


class MergeMode(StrEnum):
    """Treatment of several tokens for one activity, in a flowchart in token mode."""

    STREAM = "stream"
    MERGE = "merge"
    CONVERGE = "converge"
    CASCADE = "cascade"
    RACE = "race"


class JournalRule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Values of an activity that the journal records: `include`, `exclude`, or `off` for all."""

    default: str | None = None
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}


class ActivityOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options of an activity in a definition: retry, timeout, queue, journal."""

    retry: Retry | None = None
    timeout: timedelta | None = None
    commit: str | None = None
    """`always`, `never`, `executing` or `executed`; None follows the workflow's strategy."""
    journal: JournalRule | None = None
    on_lost: OnLost | None = None
    queue: str | None = None
    """Queue of the step; None runs the activity inline."""
    priority: int = 0
    """Priority of the step in its queue; higher runs first, on transports that support it."""
    can_start: bool = False
    """For triggers: a matching stimulus starts an instance here."""
    merge: MergeMode | None = None

    def __post_init__(self) -> None:
        """Reject wrong types at the declaration, not at the first use."""
        retry: object = self.retry
        if retry is not None and not isinstance(retry, Retry):
            raise ActivityDeclarationError(f"retry={retry!r} is not a Retry. Write retry=Retry(attempts={retry!r}).")
        if self.timeout is not None:
            check_duration("timeout", self.timeout)
        if self.on_lost is not None and self.on_lost not in _LOST:
            known = ", ".join(f"OnLost.{item.name}" for item in OnLost)
            raise ActivityDeclarationError(f"on_lost={self.on_lost!r} is unknown. Write one of {known}.")
