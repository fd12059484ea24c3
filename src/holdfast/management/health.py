"""Health of this process: the reasons why its nodes take no work, and work that no node of the cluster can run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from holdfast.errors import StoreError
from holdfast.runtime.facade import Runtime
from holdfast.runtime.observability import readiness
from holdfast.runtime.plans.missing_code import lacking_code


async def why_unready(runtimes: Sequence[Runtime]) -> list[str]:
    """The reasons why nodes of these runtimes take no work; empty if all are ready. The runtimes share one store."""
    members = [(runtime.membership, runtime.liveness) for runtime in runtimes]
    return await readiness.why_unready(runtimes[0].store, members)


async def missing_code_warnings(runtimes: Sequence[Runtime]) -> list[str]:
    """What no worker of the cluster can run (rule H10). It does not make a process unready: another deployment helps, not a
    restart."""
    try:
        async with asyncio.timeout(readiness.STORE_TIMEOUT.total_seconds()):
            found = [
                item for runtime in runtimes for item in (await lacking_code(runtime.store, runtime.tenant)).values()
            ]
    except (StoreError, TimeoutError):
        return []  # Readiness reports the store.
    # Probes are open to everyone: the names of code and instances are for operators.
    return [
        f"No worker has been able to run some of the work since {item.since:%Y-%m-%d %H:%M:%S} UTC. `holdfast doctor` names "
        "what is missing."
        for item in found
    ]
