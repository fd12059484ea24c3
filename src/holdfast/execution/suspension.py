"""Suspension: synchronous code that waits for an awaitable without blocking the event loop.

A segment is synchronous, but an expression of it may run in another process. `begin` runs synchronous code on a stack of
its own (a greenlet). Code below calls `wait_for`; the stack is then put aside, and `begin` returns a `Suspended`. Its
`finish` awaits the awaitable and continues the stack where it stopped. Nothing runs twice, and everything stays in one
thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

__all__ = ["Suspended", "begin", "may_wait", "run", "wait_for"]

_greenlet: Any = None
"""The module `greenlet`, imported when the first stack is made."""
_MARK = "may_be_put_aside"
"""Attribute of the stacks that `begin` makes; other code may use greenlets too."""


class _Request:
    """Passed from the stack to the code that began or continued it."""

    __slots__ = ("awaitable",)

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.awaitable = awaitable


class Suspended:
    """Code that waits. It goes on only while `finish` is awaited."""

    __slots__ = ("_awaitable", "_stack")

    def __init__(self, stack: Any, awaitable: Awaitable[Any]) -> None:
        self._stack = stack
        self._awaitable = awaitable

    async def finish(self) -> Any:
        """Wait for what the code waits for, continue it until it returns, and return its value."""
        stack, awaitable = self._stack, self._awaitable
        while True:
            try:
                answer = await awaitable
            except BaseException as error:  # noqa: BLE001 - raised inside the code that waits, which may handle it
                stack.parent = _greenlet.getcurrent()
                found = stack.throw(error)
            else:
                stack.parent = _greenlet.getcurrent()
                found = stack.switch(answer)
            if not isinstance(found, _Request):
                return found
            awaitable = found.awaitable


def begin(work: Callable[..., Any], *args: Any) -> Any:
    """Call a function that may wait: returns its value, or a `Suspended` if it waits. It sees the context variables of its
    caller; values that it sets stay its own."""
    global _greenlet  # noqa: PLW0603 - a late import
    if _greenlet is None:
        import greenlet  # type: ignore[import-untyped]  # the package has no types

        _greenlet = greenlet
    stack = _greenlet.greenlet(work)
    stack.gr_context = copy_context()
    setattr(stack, _MARK, True)
    found = stack.switch(*args)
    return Suspended(stack, found.awaitable) if isinstance(found, _Request) else found


async def run(work: Callable[..., Any], *args: Any) -> Any:
    """Call a function that may wait, and return its value."""
    found = begin(work, *args)
    return await found.finish() if isinstance(found, Suspended) else found


def may_wait() -> bool:
    """Whether the caller runs below `begin`, so that `wait_for` is possible."""
    return _greenlet is not None and hasattr(_greenlet.getcurrent(), _MARK)


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of the awaitable. Only below `begin`; see `may_wait`."""
    return _greenlet.getcurrent().parent.switch(_Request(awaitable))
