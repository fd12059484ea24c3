"""An event loop whose time runs faster than the clock, so that tests see minutes of periodic work within seconds."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _FastSelector(selectors.DefaultSelector):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self._factor = factor

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / self._factor)


class FastLoop(asyncio.SelectorEventLoop):
    """One second of the clock is `factor` seconds of the loop. Timeouts of the loop are shorter, too."""

    def __init__(self, factor: float) -> None:
        super().__init__(_FastSelector(factor))
        self._factor = factor

    def time(self) -> float:
        return time.monotonic() * self._factor


def run_fast(main: Callable[[], Coroutine[Any, Any, T]], factor: float = 20) -> T:
    with asyncio.Runner(loop_factory=lambda: FastLoop(factor)) as runner:
        return runner.run(main())
