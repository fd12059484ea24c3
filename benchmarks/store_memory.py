"""A process with many instances in flight that prints its memory before and at its peak. Started by `store_space.py`.

It imports no more than an application would, because other benchmark modules would count as memory of Holdfast.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from holdfast import Holdfast, Status, Workflow, expr
from holdfast.activities import Sequence, SetVariable


def resident(what: str) -> float:
    """MB; `VmRSS` now, `VmHWM` at its peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024 / 1e6


async def main(url: str, many: int) -> None:
    engine = Holdfast(entry_points=False)
    store = engine.store(url)
    await store.open()
    steps = [SetVariable("x", expr("x + 1")) for _ in range(10)]
    workflow = Workflow(Sequence(*steps), id="bench-ten", variables={"x": 0})
    async with engine.runtime_on(store) as runtime:
        await runtime.start(workflow)
        idle = resident("VmRSS")

        async def one() -> None:
            answer = await runtime.start(workflow)
            assert answer.result is not None
            assert answer.result.status is Status.FINISHED

        await asyncio.gather(*(one() for _ in range(many)))
        print(json.dumps({"idle": idle, "peak": resident("VmHWM")}))
    await store.close()
    engine.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
