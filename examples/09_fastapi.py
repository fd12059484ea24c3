"""Workflows in your own FastAPI application: the engine runs in its lifespan, REST and Studio are mounted below a path.

uvicorn examples.09_fastapi:app          then open http://127.0.0.1:8000/flows
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.server import create_app

fulfil = Workflow(
    Sequence(WriteLine("Order taken"), Event("paid"), WriteLine("Order shipped")),
    id="fulfil",
)

engine = Holdfast(store="memory://", workflows=[fulfil])


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with engine:
        yield


app = FastAPI(lifespan=lifespan)
app.mount("/flows", create_app(engine, auth=False, base_path="/flows"))


@app.post("/orders/{order_id}")
async def place_order(order_id: str) -> dict[str, str]:
    answer = await engine.runtime.start(fulfil, correlation_id=order_id)
    assert answer.result is not None
    name = answer.result.instance_id
    return {"instance_id": name, "workflow": f"/flows/api/instances/{name}"}


if __name__ == "__main__":
    print("your routes, and below /flows those of the engine:")
    print(
        "  "
        + ", ".join(
            path for route in app.routes if (path := getattr(route, "path", "")) in {"/orders/{order_id}", "/flows"}
        )
    )
