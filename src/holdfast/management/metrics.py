"""Metrics for Prometheus. Importing this module needs the package `prometheus_client`."""

from __future__ import annotations

from holdfast.runtime.observability.metrics import Metrics

__all__ = ["Metrics"]
