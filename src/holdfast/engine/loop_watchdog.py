"""The watchdog of a process: ends it when its event loop stands still, for example in a native call that never returns.

A loop that stands still answers no request, and a thread of Python cannot help if the native call holds the interpreter. So the
timer is a thread of the interpreter itself (`faulthandler`): it writes the stacks of all threads to standard error and ends
the process with `EXIT_CODE`. A supervisor starts it again, and work that hangs processes is found by its attempts (rule H15).
Only processes of Holdfast have a watchdog: servers and workers, never a host application.
"""

from __future__ import annotations

import asyncio
import faulthandler
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from io import UnsupportedOperation

EXIT_CODE = 1
"""Set by `faulthandler`."""
SIGNS_PER_LIMIT = 6
"""Signs of life of the event loop within one limit."""
_STDERR = 2


@asynccontextmanager
async def watched_loop(limit: timedelta) -> AsyncIterator[None]:
    """End the process if this event loop does not turn for so long. A limit of zero is no limit."""
    if limit <= timedelta(0):
        yield
        return
    signs = asyncio.get_running_loop().create_task(_give_signs(limit), name="holdfast-watchdog")
    try:
        yield
    finally:
        signs.cancel()
        await asyncio.wait([signs])
        faulthandler.cancel_dump_traceback_later()


async def _give_signs(limit: timedelta) -> None:
    seconds = limit.total_seconds()
    while True:
        faulthandler.dump_traceback_later(seconds, exit=True, file=_stderr())
        await asyncio.sleep(seconds / SIGNS_PER_LIMIT)


def _stderr() -> int:
    try:
        return sys.stderr.fileno()
    except (AttributeError, UnsupportedOperation, ValueError):
        return _STDERR
