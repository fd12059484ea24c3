"""A workflow as objects: an input, a decision, an output."""

from __future__ import annotations

import asyncio

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import If, Sequence, SetOutput, WriteLine

hello = Workflow(
    Sequence(
        WriteLine(expr("'Hello, ' + name + '!'")),
        If(expr("len(name) > 6"), then=WriteLine("What a long name."), otherwise=WriteLine("Short and good.")),
        SetOutput("letters", expr("len(name)")),
    ),
    id="hello",
    inputs={"name": str},
    outputs={"letters": int},
)


async def main() -> None:
    result = await Holdfast().runner.run(hello, {"name": "World"}, on_line=print)
    print(result.status, result.outputs)


if __name__ == "__main__":
    asyncio.run(main())
