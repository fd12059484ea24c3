"""Harness for testing one workflow: in memory, with a virtual clock and stubbed activities."""

from __future__ import annotations

from holdfast.testing.harness.harness import Harness
from holdfast.testing.harness.stubs import Stub

__all__ = ["Harness", "Stub"]
