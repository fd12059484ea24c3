"""Report of the cluster test: whether every instance ended once, the ledger is complete, and each repeated call belongs to an
effect that a killed worker was running.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEntry, JournalEvent, Status
from tests.support.chaos.cluster_workflows import OF_CASE, OF_CHILD, OF_ORDER, Call, Ledger

Open = tuple[str, int, int]
"""An effect: instance, execution, attempt."""


class Kill(Struct, frozen=True):
    node: str
    at: datetime
    open: tuple[Open, ...]
    """What the worker had in hand: it was frozen, counted, and killed."""
    calm: bool = False
    """The others lived on for long enough to take over."""


class ClusterReport(Struct, frozen=True, kw_only=True):
    instances: int
    finished: int
    workers: int
    kills: int
    restarts: int
    """Of the broker."""
    open_branches: int
    """Effects in hand of those who were killed, when they were."""
    repeated_calls: int
    """Calls of an effect beyond the first: at most one per kill and open branch."""
    unexplained: int
    """Calls that were repeated though no receipt says that the effect was taken over."""
    holes: int
    """Entries that the ledger lacks."""
    strangers: int
    """Entries without a cause."""
    ended_twice: int
    """Instances with more or less than one end in their journal."""
    altered_wrongly: int
    """Cases that were not altered once."""
    takeovers: int
    dead_letters: int
    takeover_p99_s: float | None
    """From a worker's death until another calls its effect again, of those that died while the others were well; None if none
    of them had an effect in hand."""
    takeover_under_fire_p99_s: float | None
    """The same, of those that died when the others did."""
    seconds: float

    @property
    def broken(self) -> list[str]:
        found = {
            "instances not finished": self.instances - self.finished,
            "holes in the ledger": self.holes,
            "strangers in the ledger": self.strangers,
            "repeated calls beyond one per kill and open branch": max(0, self.repeated_calls - self.open_branches),
            "repeated calls without a receipt": self.unexplained,
            "instances without exactly one end": self.ended_twice,
            "cases not altered exactly once": self.altered_wrongly,
            "dead letters": self.dead_letters,
        }
        return [f"{count} {what}" for what, count in found.items() if count]

    @property
    def sound(self) -> bool:
        return not self.broken


class Evidence(Struct, kw_only=True):
    """What the journals and the ledger say, gathered instance by instance."""

    statuses: Counter[str]
    takeovers: Counter[str]
    """By instance."""
    ended_twice: int = 0
    altered_wrongly: int = 0


async def report(
    runtime: ManagedRuntime,
    ledger: Ledger,
    *,
    orders: Sequence[str],
    cases: Sequence[str],
    kills: Sequence[Kill],
    restarts: int,
    workers: int,
    seconds: float,
) -> ClusterReport:
    evidence = await _gathered(runtime, ledger, orders, cases)
    entries, calls = ledger.entries, ledger.calls
    repeated = Counter[str]()
    for key, count in Counter(call.key for call in calls).items():
        repeated[_instance_of(key)] += count - 1
    expected = {f"{name}.{what}" for name in orders for what in OF_ORDER}
    expected |= {f"{name}.{what}" for name in cases for what in OF_CASE}
    items = {key for key in entries if key.endswith(f".{OF_CHILD}")}
    own = entries - items
    waits = _waits(kills, calls)
    return ClusterReport(
        instances=len(orders) + len(cases),
        finished=evidence.statuses[Status.FINISHED],
        workers=workers,
        kills=len(kills),
        restarts=restarts,
        open_branches=sum(len(kill.open) for kill in kills),
        repeated_calls=repeated.total(),
        unexplained=sum(max(0, count - evidence.takeovers[name]) for name, count in repeated.items()),
        holes=len(expected - own) + max(0, len(orders) - len(items)),
        strangers=len(own - expected) + max(0, len(items) - len(orders)),
        ended_twice=evidence.ended_twice,
        altered_wrongly=evidence.altered_wrongly,
        takeovers=evidence.takeovers.total(),
        dead_letters=len(await runtime.store.list_dead_letters(runtime.tenant)),
        takeover_p99_s=_p99(wait for kill, wait in waits if kill.calm),
        takeover_under_fire_p99_s=_p99(wait for kill, wait in waits if not kill.calm),
        seconds=round(seconds, 1),
    )


async def _gathered(runtime: ManagedRuntime, ledger: Ledger, orders: Sequence[str], cases: Sequence[str]) -> Evidence:
    evidence = Evidence(statuses=Counter(), takeovers=Counter())
    asked = {*orders, *cases}
    to_alter = set(cases)
    for name in sorted(asked | {_instance_of(key) for key in ledger.entries}):
        journal = await runtime.journal(name, limit=10_000)
        events = Counter(entry.event for entry in journal)
        if name in asked:
            evidence.statuses[(await runtime.read(name)).status] += 1
        evidence.ended_twice += events[JournalEvent.INSTANCE_FINISHED] != 1
        evidence.takeovers[name] += events[JournalEvent.TAKEN_OVER]
        evidence.altered_wrongly += name in to_alter and _altered(journal) != 1
    return evidence


def _altered(journal: Sequence[JournalEntry]) -> int:
    return sum(
        entry.event is JournalEvent.OPERATED and entry.data.get("verb") == "modify variable" for entry in journal
    )


def _p99(waits: Iterable[float]) -> float | None:
    ordered = sorted(waits)
    return round(ordered[int(len(ordered) * 0.99)], 3) if ordered else None


def _waits(kills: Sequence[Kill], calls: Sequence[Call]) -> list[tuple[Kill, float]]:
    """Seconds from a death until the effects in hand went on. One that is not called again had its result on the way; one
    whose next worker died before it called it counts from that death."""
    called = defaultdict[tuple[str, int], list[Call]](list)
    for call in calls:
        called[_instance_of(call.key), call.execution].append(call)
    found: list[tuple[Kill, float]] = []
    for kill in kills:
        at = kill.at.timestamp()
        for instance_id, execution, attempt in kill.open:
            again = [call.at for call in called[instance_id, execution] if call.attempt > attempt and call.at > at]
            if again and not _died_again(kills, instance_id, execution, attempt, min(again)):
                found.append((kill, min(again) - at))
    return found


def _died_again(kills: Sequence[Kill], instance_id: str, execution: int, attempt: int, before: float) -> bool:
    return any(
        name == instance_id and number == execution and later > attempt and kill.at.timestamp() < before
        for kill in kills
        for name, number, later in kill.open
    )


def _instance_of(key: str) -> str:
    return key.rpartition(".")[0]
