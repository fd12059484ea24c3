"""Limits of queues: concurrency and rate, per node, per cluster and per input value."""
