"""A custom trigger: letters start workflows, and workflows wait for letters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from holdfast import Activity, Context, Holdfast, Workflow, expr, output
from holdfast.activities import Sequence, SetOutput

SOON = timedelta(seconds=10)


class Letter(Activity, pure=True, trigger=True, category="Mail"):
    """Waits for a letter to one of these people, or starts the workflow when it arrives."""

    to: list[str]
    text: str = output()

    def trigger_payloads(self) -> Iterable[Any]:
        """Stimuli that start the workflow, one per person. Called when the workflow is published."""
        return [{"to": person} for person in self.to]

    def execute(self, context: Context) -> None:
        if context.is_trigger:  # this letter started the instance
            self.read(context, context.trigger_payload)
        else:  # inside the workflow, it is a wait
            context.bookmark({"to": self.to[0]}, resume=self.read)

    def read(self, context: Context, letter: Any) -> None:
        context.set_output("text", letter["text"])
        context.complete()


correspondence = Workflow(
    Sequence(
        Letter(["Grace", "Linus"], text="first", can_start=True),
        Letter(["Ada"], text="second"),
        SetOutput("read", expr("[first, second]")),
    ),
    id="correspondence",
    outputs={"read": list},
    variables={"first": "", "second": ""},
)


async def main() -> None:
    async with Holdfast(store="memory://", workflows=[correspondence]) as app:
        for trigger in await app.runtime.triggers.list():
            print(trigger.type, trigger.payload)
        finished: asyncio.Queue[str] = asyncio.Queue()
        app.on(lambda name, fields: print(name), "instance.started", "instance.suspended", "instance.resumed")
        app.on(lambda name, fields: finished.put_nowait(fields["instance_id"]), "instance.finished")
        send = app.runtime.stimuli.send
        await send("Letter", {"to": "Grace"}, input={"text": "Dear Grace"}, wait=SOON)
        await send("Letter", {"to": "Ada"}, input={"text": "Dear Ada"}, wait=SOON)
        async with asyncio.timeout(10):
            result = await app.runtime.read(await finished.get())
        print(result.status, result.outputs)


if __name__ == "__main__":
    asyncio.run(main())
