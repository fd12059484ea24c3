"""Child processes of the chaos tests: `python -m tests.support.chaos.processes` (see `holdfast.testing.store_process`)."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

from holdfast.ports import Store
from holdfast.testing.store_process import Answer, Role, launch, main
from tests.support.environment import child_environment

# Each function imports its module itself: a child process loads only the code of its role.


async def contend_for_store(store: Store, **arguments: Any) -> Answer:
    from tests.support.chaos import store_contender

    return await store_contender.contend(store, **arguments)


async def contend_through_runtime(store: Store, **arguments: Any) -> Answer:
    from tests.support.chaos import runtime_contender

    return await runtime_contender.contend(store, **arguments)


async def run_order(store: Store, **arguments: Any) -> Answer:
    from tests.support.chaos import crash_points

    return await crash_points.run_order(store, **arguments)


ROLES: Mapping[str, Role] = {
    "contend_for_store": contend_for_store,
    "contend_through_runtime": contend_through_runtime,
    "run_order": run_order,
}


def start(role: str, url: str, *, fault: str = "", **arguments: Any) -> subprocess.Popen[str]:
    """Start a child process in the given role. Read its answer with `store_process.answer_of`."""
    return launch(__name__, role, url, arguments, fault=fault, environment=child_environment())


if __name__ == "__main__":
    main(ROLES)
