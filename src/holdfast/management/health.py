"""Health of this process: the reasons why its nodes take no work."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.runtime.facade import Runtime
from holdfast.runtime.observability import readiness


async def why_unready(runtimes: Sequence[Runtime]) -> list[str]:
    """The reasons why nodes of these runtimes take no work; empty if all are ready. The runtimes share one store."""
    members = [(runtime.membership, runtime.liveness) for runtime in runtimes]
    return await readiness.why_unready(runtimes[0].store, members)
