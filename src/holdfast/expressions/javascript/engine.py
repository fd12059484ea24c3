"""JavaScript engine behind a replaceable interface; currently QuickJS (quickjs-ng).

- **A context is used once.** Prototype pollution, leftover globals and pending promises cannot reach the next
  evaluation, and a context is unusable after it ran out of memory anyway. Contexts are made ahead (`prepared`), because
  making one takes longer than most evaluations. Keeping a context and freezing its intrinsics breaks scripts that assign
  `toString` or an undeclared global, which Elsa scripts may do.
- **No Python function is passed in**: the engine cannot call one while a time limit is set. Values enter and leave as
  JSON text.
- Shared memory and finalizers are removed: they are useless here and have had memory bugs. Bytecode is never loaded.

The engine checks its time limit between instructions, not inside native calls such as a sort or a search. Therefore
programs run in child processes with limits of the kernel (`isolation`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

_REMOVED = ("SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry")
_CLEAN = ";".join(f"delete globalThis.{name}" for name in _REMOVED)
_MAX_JOBS = 100_000
_LIMIT_WORDS = ("interrupted", "out of memory", "Maximum call stack")


class JsThrown(Exception):
    """The engine reported an uncaught error of the script."""


class JsLimitReached(JsThrown):
    """The time, memory or stack limit was exceeded."""


@dataclass(frozen=True, slots=True)
class JsLimits:
    """Limits of one evaluation."""

    time: timedelta = timedelta(milliseconds=500)
    memory: int = 32 * 1024 * 1024
    stack: int = 256 * 1024

    @classmethod
    def of_seconds(cls, seconds: float, *, memory: int, stack: int) -> JsLimits:
        return cls(timedelta(seconds=seconds), memory, stack)


class JsContext(Protocol):
    """Isolated JavaScript context for one evaluation."""

    def evaluate(self, text: str) -> Any:
        """Run a program and return its value (a function, for `call`)."""

    def call(self, function: Any, *args: str) -> Any:
        """Call a function that `evaluate` returned."""

    def settle(self) -> None:
        """Run pending promise jobs until none are left."""

    def restart(self, limits: JsLimits) -> None:
        """Begin to count from here, with these limits."""


class JsEngine(Protocol):
    def context(self, limits: JsLimits) -> JsContext: ...


class QuickJs:
    """quickjs-ng; imported when the first context is created."""

    def context(self, limits: JsLimits) -> JsContext:
        return _QuickJsContext(limits)


class _QuickJsContext:
    __slots__ = ("_context", "_deadline", "_errors")

    def __init__(self, limits: JsLimits) -> None:
        import quickjs  # type: ignore[import-untyped]  # the wrapper has no types

        self._errors: Any = (quickjs.JSException, quickjs.StackOverflow)
        self._context: Any = quickjs.Context()
        self.restart(limits)
        self.evaluate(_CLEAN)

    def restart(self, limits: JsLimits) -> None:
        self._context.set_memory_limit(limits.memory)
        self._context.set_max_stack_size(limits.stack)
        self._deadline = time.process_time() + limits.time.total_seconds()

    def evaluate(self, text: str) -> Any:
        return self._run(self._context.eval, text)

    def call(self, function: Any, *args: str) -> Any:
        return self._run(function, *args)

    def settle(self) -> None:
        for _ in range(_MAX_JOBS):
            if not self._run(self._context.execute_pending_job):
                return
        raise JsLimitReached("its promises never settle")

    def _run(self, work: Any, *args: str) -> Any:
        """Run one engine call within the remaining processor time. The engine restarts its time limit with each call."""
        left = self._deadline - time.process_time()
        if left <= 0:
            raise JsLimitReached("it takes too long")
        self._context.set_time_limit(left)
        try:
            return work(*args)
        except self._errors as error:
            raise _limit_or_error(str(error)) from None
        except MemoryError:
            raise JsLimitReached("it needs too much memory") from None
        except (UnicodeError, TypeError, ValueError, SystemError) as error:
            raise JsThrown(f"its value cannot be converted: {error}") from None


def _limit_or_error(text: str) -> JsThrown:
    line = text.strip().split("\n", 1)[0]
    if "interrupted" in line:
        return JsLimitReached("it takes too long")
    if "out of memory" in line or line in ("null", ""):
        return JsLimitReached("it needs too much memory")
    if "Maximum call stack" in line:
        return JsLimitReached("it is nested or recurses too deeply")
    return JsThrown(line)


def is_limit(message: str) -> bool:
    """Whether a limit of the engine caused an error that the script caught and rethrew."""
    return message.startswith(("InternalError", "RangeError")) and any(word in message for word in _LIMIT_WORDS)
