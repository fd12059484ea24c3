"""A FastAPI application that starts a workflow for each order."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from workflows import Approval, fulfil

from holdfast import Holdfast
from holdfast.errors import InstanceNotFound

FILE = Path(os.environ.get("ORDERS_FILE", "orders.db")).absolute()

holdfast = Holdfast(store=f"sqlite:///{FILE}", workflows=[fulfil])
database = create_async_engine(f"sqlite+aiosqlite:///{FILE}")


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[str] = mapped_column(primary_key=True)
    total: Mapped[int]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with holdfast:
        async with database.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        yield
    await database.dispose()


async def session() -> AsyncIterator[AsyncSession]:
    async with AsyncSession(database) as found:
        yield found


app = FastAPI(lifespan=lifespan)
Session = Annotated[AsyncSession, Depends(session)]


class NewOrder(BaseModel):
    id: str
    total: int


class Decision(BaseModel):
    approved: bool


@app.post("/orders", status_code=201)
async def place(order: NewOrder, session: Session) -> dict[str, str]:
    """Store the order and start its workflow in one transaction."""
    async with session.begin():
        session.add(Order(id=order.id, total=order.total))
        await session.flush()
        call = fulfil.options(instance_id=f"order-{order.id}")
        instance = await holdfast.start_in(session, call, order.id, order.total)
        if order.total <= 0:
            raise HTTPException(422, "An order has a total.")
    return {"instance": instance.id}


@app.post("/orders/{order_id}/approval", status_code=202)
async def decide(order_id: str, decision: Decision) -> None:
    await holdfast.handle(fulfil, f"order-{order_id}").send(Approval(decision.approved))


@app.get("/orders/{order_id}")
async def show(order_id: str, session: Session) -> dict[str, object]:
    order = await session.get(Order, order_id)
    if order is None:
        raise HTTPException(404, "There is no such order.")
    instance = holdfast.handle(fulfil, f"order-{order_id}")
    try:
        status: str = await instance.status()
    except InstanceNotFound:
        status = "pending"
    result = await instance.result() if status == "finished" else None
    return {"id": order.id, "total": order.total, "status": status, "result": result}
