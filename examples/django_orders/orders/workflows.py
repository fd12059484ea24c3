"""The workflow of an order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from holdfast import activity, wait_for, workflow

LIMIT = 1_000


@dataclass
class Approval:
    approved: bool


@activity
async def charge(order_id: str, total: int) -> str:
    return f"receipt for {order_id} over {total}"


@workflow
async def fulfil(order_id: str, total: int) -> str:
    """Charges an order. Large orders need an approval."""
    if total > LIMIT:
        answer = await wait_for(Approval, timeout=timedelta(days=3), default=Approval(approved=False))
        if not answer.approved:
            return "refused"
    return await charge(order_id, total)
