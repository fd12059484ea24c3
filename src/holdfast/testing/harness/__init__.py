"""One workflow in a test: in memory, on a clock that the test moves, with activities that the test answers for."""

from __future__ import annotations

from holdfast.testing.harness.harness import Harness
from holdfast.testing.harness.stubs import Stub

__all__ = ["Harness", "Stub"]
