"""Benchmarks measure an engine without listeners, whatever other tests of the process have left."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.telemetry.listeners", [])
