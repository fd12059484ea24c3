"""How an activity is treated when it fails, takes long or is recorded: options beside its inputs, never among them."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from holdfast.errors import ActivityDeclarationError


class Retry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Run a failed activity again: the n-th wait is `delay * factor ** (n - 1)`, at most `delay_max`, ± `jitter`."""

    attempts: int = 3
    """In all, the first one included."""
    delay: timedelta = timedelta(seconds=1)
    factor: float = 2.0
    delay_max: timedelta = timedelta(minutes=5)
    jitter: float = 0.1
    """The share of the wait that is random, 0 to 1."""
    on: tuple[str, ...] = ()
    """Names of exception types that are retried; empty retries all."""
    never_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given: tuple[object, ...] = (*self.on, *self.never_on)
        for name in given:
            if not isinstance(name, str):  # A class would be compared with names, and never match.
                shown = getattr(name, "__name__", name)
                raise ActivityDeclarationError(f"Retry(on=…) takes names of exceptions. Write on=('{shown}',).")
        check_duration("delay", self.delay)
        check_duration("delay_max", self.delay_max)

    def declared(self) -> Retry:
        """Itself, if an activity may be declared with it. What a file says is a finding of the checks instead."""
        if self.attempts < 1:
            raise ActivityDeclarationError(
                f"Retry(attempts={self.attempts}) never runs the activity: the first attempt counts. Write attempts=1 for "
                "no second one, or leave `retry` out."
            )
        return self


def check_duration(name: str, value: object) -> None:
    """Refuses seconds as a bare number."""
    if not isinstance(value, timedelta):
        raise ActivityDeclarationError(f"{name}={value!r} is no duration. Write {name}=timedelta(seconds={value!r}).")


class OnLost(StrEnum):
    """What happens to an effect whose node died before its result was committed."""

    RETRY = "retry"
    FAIL = "fail"
    HOLD = "hold"


_LOST = frozenset(OnLost)


class MergeMode(StrEnum):
    """How a flowchart in token mode treats several tokens for one activity."""

    STREAM = "stream"
    MERGE = "merge"
    CONVERGE = "converge"
    CASCADE = "cascade"
    RACE = "race"


class JournalRule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which values of an activity the journal keeps: `include`, `exclude` or, as a whole, `off`."""

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
    """The queue that carries it as a step; None runs it inline."""
    priority: int = 0
    """Of the step in its queue: higher goes first, with carriers that can."""
    can_start: bool = False
    """For triggers: a matching stimulus starts an instance here."""
    merge: MergeMode | None = None

    def __post_init__(self) -> None:
        """People write these by hand: what does not fit is told where it stands, not when it is needed."""
        retry: object = self.retry
        if retry is not None and not isinstance(retry, Retry):
            raise ActivityDeclarationError(f"retry={retry!r} is no Retry. Write retry=Retry(attempts={retry!r}).")
        if self.timeout is not None:
            check_duration("timeout", self.timeout)
        if self.on_lost is not None and self.on_lost not in _LOST:
            known = ", ".join(f"OnLost.{item.name}" for item in OnLost)
            raise ActivityDeclarationError(f"on_lost={self.on_lost!r} is unknown. Write one of {known}.")
