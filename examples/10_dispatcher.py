"""A custom dispatcher: requests are files in a folder, and a second process does the work.

The built-in dispatcher uses rows of the database; this one uses a spool folder. It responds with the id of the future instance.
The process that finds the file passes the request to `runtime.inline`, which executes it at once.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import Sequence, SetOutput
from holdfast.api import (
    DispatchDefinition,
    Dispatched,
    DispatchRequest,
    DispatchResponse,
    decode_request,
    encode_request,
)


class SpoolDispatcher:
    """Implements `holdfast.ports.WorkflowDispatcher`."""

    def __init__(self, runtime: Any, folder: Path) -> None:
        self.runtime = runtime
        self.folder = folder

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        identity = self.runtime.new_id()
        if isinstance(request, DispatchDefinition):
            await self.runtime.current_plan(request.definition_id, request.version)  # raises if it does not exist
            request = replace(request, instance_id=request.instance_id or identity)
        draft = self.folder / f"{identity}.draft"
        draft.write_bytes(encode_request(request))
        draft.rename(draft.with_suffix(".json"))  # atomic
        return Dispatched(instance_ids=tuple(filter(None, [request.instance_id])))

    async def serve(self) -> None:
        """Process requests in the folder until the file `stop` exists."""
        while not (self.folder / "stop").exists():
            for path in sorted(self.folder.glob("*.json")):
                mine = path.rename(path.with_suffix(".mine"))
                await self.runtime.inline.dispatch(decode_request(mine.read_bytes()))
                mine.unlink()
            await asyncio.sleep(0.02)


ORDER = Workflow(
    Sequence(SetOutput("total", expr("amount * 2"))), id="order", inputs={"amount": int}, outputs={"total": int}
)


def application(folder: Path) -> Holdfast:
    return Holdfast(
        store=f"sqlite:///{folder / 'holdfast.db'}",
        workflows=[ORDER],
        dispatcher=lambda runtime: SpoolDispatcher(runtime, folder),
    )


async def ask(folder: Path) -> None:
    async with application(folder) as app:
        answers = [
            await app.runtime.dispatcher.dispatch(DispatchDefinition(definition_id="order", input={"amount": amount}))
            for amount in (1, 20, 300)
        ]
        working = await asyncio.create_subprocess_exec(sys.executable, __file__, str(folder))
        for answer in answers:
            while (found := await app.runtime.find(answer.instance_ids[0])) is None:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.02)
            print(found.status, found.outputs)
        (folder / "stop").touch()
        await working.wait()


async def work(folder: Path) -> None:
    async with application(folder) as app:
        await SpoolDispatcher(app.runtime, folder).serve()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(work(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(ask(Path(place)))
