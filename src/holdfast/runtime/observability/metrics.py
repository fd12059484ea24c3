"""Metrics for Prometheus: events of this process, counted as they happen, and the state of the store, queried when scraped.

Each server, and each worker with a probe, has its own registry. The store is queried at most every five seconds, however many
scrapers there are. The search for stuck instances is a slow scan: it runs in the background, every few minutes, while the
metrics are scraped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.exposition import choose_encoder

from holdfast import telemetry
from holdfast.errors import HoldfastError
from holdfast.model.instance import Status
from holdfast.ports import Store
from holdfast.runtime.observability.counters import Counter, Histogram, MetricCollector
from holdfast.runtime.observability.outage_log import OutageLog

STORE_EVERY = timedelta(seconds=5)
STUCK_EVERY = timedelta(minutes=5)
STUCK_MAX = 1_000
"""Stuck instances that are counted."""
RUNNING_MAX = 10_000
"""Running effects whose start is remembered."""
UNKNOWN = float("nan")
FINE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
LONG = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800)


class Scraped(Protocol):
    """A runtime whose store and tenant are measured."""

    @property
    def store(self) -> Store: ...
    @property
    def tenant(self) -> str: ...
    @property
    def log(self) -> OutageLog: ...


class Metrics:
    """Counts events of this process from `open` to `close`. Metrics of the store are sums over the tenants of the runtimes."""

    def __init__(self, runtimes: Sequence[Scraped]) -> None:
        """The runtimes share one store. The sequence may be filled until the first scrape."""
        self._runtimes = runtimes
        self.registry = CollectorRegistry()
        self._life = Counter("instance_events", "Lifecycle events of instances.", ["event"])
        self._bursts = Counter("bursts", "Bursts that were committed.")
        self._activities = Counter("activities", "Activity executions that completed.", ["type"])
        self._burst_time = Histogram("burst_seconds", "Run time of bursts.", FINE)
        self._commit_time = Histogram("commit_seconds", "Duration of commits.", FINE)
        self._effects = Counter("effects", "Attempts of effects that ended.", ["type", "outcome"])
        self._effect_time = Histogram("effect_seconds", "Duration of attempts of effects.", LONG, ["type"])
        self._takeovers = Counter("effect_takeovers", "Effects of dead nodes that were taken over.")
        self._conflicts = Counter("commits_lost", "Commits that had a conflict.", ["reason"])
        self._work = Counter("work_taken", "Work rows that were claimed.", ["kind"])
        self._late = Histogram(
            "work_late_seconds", "Delay between the due time and the claim of work rows.", LONG, ["kind"]
        )
        self._stimuli = Counter("stimuli", "Stimuli by outcome.", ["outcome"])
        self._dispatched = Counter("requests_dispatched", "Requests that dispatchers accepted.", ["request"])
        self.registry.register(
            MetricCollector(item for item in vars(self).values() if isinstance(item, Counter | Histogram))
        )
        made: dict[str, Any] = {"namespace": "holdfast", "registry": self.registry}
        self._instances = Gauge("instances", "Instances in the store.", ["status"], **made)
        self._store = {name: Gauge(name, words, **made) for name, words in _STORE.items()}
        self._up = Gauge("store_up", "1 if the store answered the last query, 0 if not.", **made)
        self._stuck = Gauge(
            "stuck_instances", "Live instances that no bookmark, work, effect or stimulus can wake.", **made
        )
        ProcessCollector(namespace="holdfast", registry=self.registry)
        self._running: dict[tuple[str, str, str, int], float] = {}
        self._queried = self._scanned = float("-inf")
        self._scan: asyncio.Task[None] | None = None
        self._end: Callable[[], None] | None = None

    def open(self) -> None:
        self._end = telemetry.subscribe(self._count)

    async def close(self) -> None:
        if self._end is not None:
            self._end()
        if self._scan is not None:
            self._scan.cancel()
            await asyncio.gather(self._scan, return_exceptions=True)

    # -- events of this process ----------------------------------------------------------------------------------------

    def _count(self, name: str, fields: Mapping[str, Any]) -> None:
        area, _, word = name.partition(".")
        if area == "instance":
            self._life.counts[word,] += 1
        elif area == "effect":
            self._count_effect(word, fields)
        elif name == "burst.committed":
            self._count_burst(fields)
        elif name == "commit.lost":
            self._conflicts.counts[fields["reason"],] += 1
        elif name == "work.taken":
            self._work.counts[fields["kind"],] += 1
            self._late.add(max(fields["late"].total_seconds(), 0), fields["kind"])
        elif name == "stimulus.settled":
            self._stimuli.counts[str(fields["outcome"]),] += 1
        elif name == "request.dispatched":
            self._dispatched.counts[str(fields["request"]),] += 1

    def _count_burst(self, fields: Mapping[str, Any]) -> None:
        self._bursts.counts[()] += 1
        self._burst_time.add(max(fields["ran_ns"] - fields["began_ns"], 0) / 1e9)
        self._commit_time.add(max(fields["committed_ns"] - fields["ran_ns"], 0) / 1e9)
        for kind, times in fields["entries"].completed().items():
            self._activities.counts[kind,] += times

    def _count_effect(self, word: str, fields: Mapping[str, Any]) -> None:
        if word == "taken_over":
            self._takeovers.counts[()] += 1
            return
        key = fields["tenant"], fields["instance_id"], fields["activity_id"], fields["attempt"]
        if word == "started":
            self._running[key] = time.monotonic()
            if len(self._running) > RUNNING_MAX:  # An abandoned attempt emits no event when it ends.
                del self._running[next(iter(self._running))]
            return
        self._effects.counts[fields["activity_type"], word] += 1
        began = self._running.pop(key, None)
        if began is not None:
            self._effect_time.add(time.monotonic() - began, fields["activity_type"])

    # -- state of the store --------------------------------------------------------------------------------------------

    async def render(self, accept: str) -> tuple[bytes, str]:
        """All metrics in the format that the scraper accepts, and its media type."""
        await self._refresh()
        write, kind = choose_encoder(accept)
        return write(self.registry), kind

    async def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._queried > STORE_EVERY.total_seconds():
            self._queried = now
            try:
                await self._query_store()
            except HoldfastError:
                self._forget_store()
                self._runtimes[0].log.warning("the metrics of the store could not be queried")
        if now - self._scanned > STUCK_EVERY.total_seconds():
            self._scanned = now
            self._scan = asyncio.create_task(self._find_stuck())

    async def _query_store(self) -> None:
        store = self._runtimes[0].store
        stats = [await store.stats(runtime.tenant) for runtime in self._runtimes]
        moment = await store.now()
        for status in Status:
            self._instances.labels(status.value).set(sum(one.instances.get(status.value, 0) for one in stats))
        nodes = await store.list_nodes()
        found = {
            "bookmarks": sum(one.bookmarks for one in stats),
            "queue_depth": sum(one.work_ready for one in stats),
            "queue_age_seconds": _age((one.oldest_ready for one in stats), moment),
            "timers": sum(one.work_later for one in stats),
            "effects_open": sum(one.effects for one in stats),
            "inbox_depth": sum(one.inbox for one in stats),
            "outbox_depth": sum(one.outbox for one in stats),
            "outbox_age_seconds": _age((one.oldest_outbox for one in stats), moment),
            "dead_letters": sum(one.dead_letters for one in stats),
            "incidents_open": sum(one.incidents_open for one in stats),
            "nodes_alive": sum(node.alive_at(moment) for node in nodes),
        }
        for name, value in found.items():
            self._store[name].set(value)
        self._up.set(1)

    def _forget_store(self) -> None:
        """The state of the store is unknown: old values would look healthy. Events of this process are still reported."""
        self._up.set(0)
        self._instances.clear()
        for gauge in self._store.values():
            gauge.set(UNKNOWN)

    async def _find_stuck(self) -> None:
        try:
            self._stuck.set(len(await self._runtimes[0].store.find_stuck(STUCK_MAX)))
        except HoldfastError:
            self._runtimes[0].log.warning("stuck instances could not be counted")


def _age(since: Iterable[datetime | None], now: datetime) -> float:
    """Seconds since the oldest of the moments."""
    return max([(now - moment).total_seconds() for moment in since if moment is not None] + [0.0])


_STORE = {
    "bookmarks": "Bookmarks that wait.",
    "queue_depth": "Work rows that are due.",
    "queue_age_seconds": "How long the oldest of them has waited.",
    "timers": "Work rows that are due later.",
    "effects_open": "Effects without a result.",
    "inbox_depth": "Stimuli that arrived before their bookmark.",
    "outbox_depth": "Messages that are not published yet.",
    "outbox_age_seconds": "How long the oldest of them has waited.",
    "dead_letters": "Dead letters: work that failed for good.",
    "incidents_open": "Open incidents.",
    "nodes_alive": "Nodes with a fresh heartbeat.",
}
