"""Wait for a person: the instance waits at a bookmark, its state goes through a file, another process resumes it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import Event, If, Sequence, WriteLine

approval = Workflow(
    Sequence(
        WriteLine(expr("'Invoice over ' + str(amount) + ' waits for an approval'")),
        Event("approved", result="answer", id="wait"),
        If(
            expr("answer['yes']"),
            then=WriteLine(expr("'Approved by ' + answer['by']")),
            otherwise=WriteLine(expr("'Refused by ' + answer['by']")),
        ),
    ),
    id="approval",
    inputs={"amount": int},
    variables={"answer": None},
)


async def ask(file: Path) -> None:
    result = await Holdfast().runner.run(approval, {"amount": 1200}, on_line=print)
    print(result.status, "at", result.bookmarks[0].activity_id)
    file.write_text(json.dumps(result.state), encoding="utf-8")


async def answer(file: Path) -> None:
    """Weeks later, on another machine."""
    runner = Holdfast().runner
    result = runner.load(json.loads(file.read_text(encoding="utf-8")), approval)
    result = await runner.resume(result, result.bookmark("wait"), {"yes": True, "by": "Ada"}, on_line=print)
    print(result.status)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "approval.json"
        asyncio.run(ask(state))
        asyncio.run(answer(state))
