"""Counters and histograms as Prometheus reads them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from holdfast.runtime.observability.counters import Counter, Histogram, MetricCollector


def text_of(*metrics: Counter | Histogram) -> list[str]:
    registry = CollectorRegistry()
    registry.register(MetricCollector(metrics))
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_a_counter_without_labels_begins_at_zero() -> None:
    tally = Counter("starts", "Starts.")
    assert text_of(tally) == ["holdfast_starts_total 0.0"]

    tally.counts[()] += 2
    assert text_of(tally) == ["holdfast_starts_total 2.0"]


def test_a_counter_with_labels_shows_what_was_counted() -> None:
    tally = Counter("ends", "Ends.", ["status"])
    assert text_of(tally) == []

    tally.counts["finished",] += 1
    assert text_of(tally) == ['holdfast_ends_total{status="finished"} 1.0']


def test_a_bound_belongs_to_its_bucket_and_buckets_add_up() -> None:
    spread = Histogram("burst_seconds", "Bursts.", [0.1, 1])
    for seconds in (0.1, 0.5, 7.0):
        spread.add(seconds)

    assert text_of(spread) == [
        'holdfast_burst_seconds_bucket{le="0.1"} 1.0',
        'holdfast_burst_seconds_bucket{le="1.0"} 2.0',
        'holdfast_burst_seconds_bucket{le="+Inf"} 3.0',
        "holdfast_burst_seconds_count 3.0",
        "holdfast_burst_seconds_sum 7.6",
    ]
