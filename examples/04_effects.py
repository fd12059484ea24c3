"""Activities with side effects: they run concurrently, are recorded before they start, and are retried."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast import Context, Holdfast, Retry, Workflow, activity, expr
from holdfast.activities import Parallel, Sequence, SetOutput


@activity
async def fetch_price(article: str) -> int:
    await asyncio.sleep(0)  # an HTTP request
    return {"anchor": 40, "rope": 12}[article]


@activity(retry=Retry(attempts=3, delay=timedelta(milliseconds=10)), timeout=timedelta(seconds=5))
def charge(total: int, context: Context) -> str:
    """Not async, so it runs in a thread. The idempotency key is the same for all attempts, so the bank can deduplicate
    them.
    """
    if context.attempt < 3:
        raise ConnectionError("the bank does not answer")
    assert context.idempotency_key.startswith(context.instance_id)
    return f"charged {total} at attempt {context.attempt}"


shopping = Workflow(
    Sequence(
        Parallel(fetch_price.bind("anchor", result="anchor"), fetch_price.bind("rope", result="rope")),
        charge.bind(total=expr("anchor + 3 * rope"), result="receipt"),
        SetOutput("receipt", expr("receipt")),
    ),
    id="shopping",
    outputs={"receipt": str},
    variables={"anchor": 0, "rope": 0, "receipt": ""},
)


async def main() -> None:
    engine = Holdfast()
    # `wait=True` waits for the back-off; without it the result is suspended until the next attempt.
    result = await engine.runner.run(shopping, wait=True)
    print(result.status, result.outputs)
    engine.close()


if __name__ == "__main__":
    asyncio.run(main())
