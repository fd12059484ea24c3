"""The JavaScript engine behind an interface of ours, so that it can be replaced: today QuickJS (quickjs-ng).

Rules that come with it:

- **A context is used once.** Pollution of prototypes, globals left behind and pending promises cannot reach the next
  evaluation, whoever wrote it, and a context is unusable after it ran out of memory anyway. Making one costs 0.11 ms
  (measured), a whole evaluation about 0.2 ms; keeping one and freezing its intrinsics would save most of that, but
  breaks scripts that assign `toString` or an undeclared global, which Elsa's may.
- **No Python function is ever handed in**: the engine cannot call one while a time limit is set. Values go in and come
  out as JSON text.
- Shared memory and finalizers are removed (they are of no use here and have had memory faults); bytecode is never loaded.

It is C code in this process: who runs scripts of strangers should run workers of their own for them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

_REMOVED = ("SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry")
_CLEAN = ";".join(f"delete globalThis.{name}" for name in _REMOVED)
_MOST_JOBS = 100_000
_LIMIT_WORDS = ("interrupted", "out of memory", "Maximum call stack")


class JsThrown(Exception):
    """The engine reported an error that the script did not catch."""


class JsLimitReached(JsThrown):
    """Time, memory or stack ran out."""


@dataclass(frozen=True, slots=True)
class JsLimits:
    """What one evaluation may use."""

    time: timedelta = timedelta(milliseconds=500)
    memory: int = 32 * 1024 * 1024
    stack: int = 256 * 1024


class JsContext(Protocol):
    """A world of its own, used for one evaluation."""

    def evaluate(self, text: str) -> Any:
        """Run a program; gives its value (a function, for `call`)."""

    def call(self, function: Any, *args: str) -> Any:
        """Call a function that `evaluate` gave."""

    def settle(self) -> None:
        """Run what promises are waiting for, until nothing is left to run."""


class JsEngine(Protocol):
    def context(self, limits: JsLimits) -> JsContext: ...


class QuickJs:
    """quickjs-ng; imported when the first context is made."""

    def context(self, limits: JsLimits) -> JsContext:
        return _QuickJsContext(limits)


class _QuickJsContext:
    __slots__ = ("_context", "_deadline", "_errors")

    def __init__(self, limits: JsLimits) -> None:
        import quickjs  # type: ignore[import-untyped]  # the wrapper has no types

        self._errors: Any = (quickjs.JSException, quickjs.StackOverflow)
        self._context: Any = quickjs.Context()
        self._context.set_memory_limit(limits.memory)
        self._context.set_max_stack_size(limits.stack)
        self._deadline = time.perf_counter() + limits.time.total_seconds()
        self.evaluate(_CLEAN)

    def evaluate(self, text: str) -> Any:
        return self._run(self._context.eval, text)

    def call(self, function: Any, *args: str) -> Any:
        return self._run(function, *args)

    def settle(self) -> None:
        for _ in range(_MOST_JOBS):
            if not self._run(self._context.execute_pending_job):
                return
        raise JsLimitReached("its promises never come to an end")

    def _run(self, work: Any, *args: str) -> Any:
        """Each entry gets what is left of the evaluation's time, since the engine counts anew every time."""
        left = self._deadline - time.perf_counter()
        if left <= 0:
            raise JsLimitReached("it takes too long")
        self._context.set_time_limit(left)
        try:
            return work(*args)
        except self._errors as error:
            raise _told(str(error)) from None
        except MemoryError:
            raise JsLimitReached("it needs too much memory") from None
        except (UnicodeError, TypeError, ValueError, SystemError) as error:
            raise JsThrown(f"its value cannot be taken over: {error}") from None


def _told(text: str) -> JsThrown:
    line = text.strip().split("\n", 1)[0]
    if "interrupted" in line:
        return JsLimitReached("it takes too long")
    if "out of memory" in line or line in ("null", ""):
        return JsLimitReached("it needs too much memory")
    if "Maximum call stack" in line:
        return JsLimitReached("it nests or recurses too deep")
    return JsThrown(line)


def is_limit(message: str) -> bool:
    """Whether an error that a script caught and passed on was one of the engine's limits."""
    return message.startswith(("InternalError", "RangeError")) and any(word in message for word in _LIMIT_WORDS)
