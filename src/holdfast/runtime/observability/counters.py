"""Cheap counters and histograms: plain numbers, converted to Prometheus metric families when they are scraped.

Every burst is counted several times. The counters of prometheus_client, with their locks and label lookups, took a tenth of
the processor time of a start.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

Labels = tuple[str, ...]


class Counter:
    """A counter with labels: `counter.counts[label,] += 1`."""

    def __init__(self, name: str, words: str, labels: Sequence[str] = ()) -> None:
        self._name = f"holdfast_{name}"
        self._words = words
        self._labels = tuple(labels)
        self.counts: defaultdict[Labels, int] = defaultdict(int)
        if not labels:
            self.counts[()] = 0

    def family(self) -> Metric:
        made = CounterMetricFamily(self._name, self._words, labels=self._labels)
        for labels, count in tuple(self.counts.items()):
            made.add_metric(labels, count)
        return made


class Histogram:
    """A histogram of durations with labels: counts per bucket."""

    def __init__(self, name: str, words: str, bounds: Sequence[float], labels: Sequence[str] = ()) -> None:
        self._name = f"holdfast_{name}"
        self._words = words
        self._labels = tuple(labels)
        self._bounds = tuple(bounds)
        self._cells: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}
        if not labels:
            self._begin(())

    def _begin(self, labels: Labels) -> list[int]:
        cells = self._cells[labels] = [0] * (len(self._bounds) + 1)
        self._sums[labels] = 0.0
        return cells

    def add(self, seconds: float, *labels: str) -> None:
        cells = self._cells.get(labels) or self._begin(labels)
        cells[bisect_left(self._bounds, seconds)] += 1
        self._sums[labels] += seconds

    def family(self) -> Metric:
        made = HistogramMetricFamily(self._name, self._words, labels=self._labels)
        for labels, cells in tuple(self._cells.items()):
            made.add_metric(labels, list(self._buckets(cells)), self._sums[labels])
        return made

    def _buckets(self, cells: Sequence[int]) -> Iterator[tuple[str, float]]:
        below = 0
        for bound, count in zip((*self._bounds, float("inf")), cells, strict=True):
            below += count
            yield "+Inf" if bound == float("inf") else str(float(bound)), below


class MetricCollector(Collector):
    """Collects counters and histograms for a registry."""

    def __init__(self, metrics: Iterable[Counter | Histogram]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Metric]:
        for item in self._metrics:
            yield item.family()
