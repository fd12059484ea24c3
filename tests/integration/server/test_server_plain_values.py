"""Durations, moments, amounts and classes leave the server as plain JSON, and come back by what is declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec

from holdfast import Workflow, activity, wait_for, workflow
from holdfast.activities import HumanTask
from holdfast.engine import Holdfast
from tests.integration.server.conftest import Serve


@dataclass
class Parcel:
    weight: Decimal
    within: timedelta


broken = True


@activity
async def post(parcel: Parcel, patience: timedelta) -> Parcel:
    if broken:
        raise RuntimeError("No post today.")
    assert isinstance(parcel, Parcel), "what was shown came back as another type"
    assert isinstance(patience, timedelta)
    return parcel


@workflow
async def posting(days: int) -> Parcel:
    parcel = Parcel(weight=Decimal("4.50"), within=timedelta(days=days))
    return await post(parcel, patience=timedelta(hours=3))


@workflow
async def asking() -> None:
    await wait_for(str, key=timedelta(hours=3))


SHOWN = {"weight": "4.50", "within": "P2D"}


def tagged(found: Any) -> bool:
    return '"$t"' in msgspec.json.encode(found).decode()


async def test_a_failed_activity_is_retried_with_what_was_shown(serve: Serve) -> None:
    global broken  # noqa: PLW0603 - the world outside, which the activity meets
    broken = True
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[posting], types=[Parcel]))
    failed = await api.post("/api/definitions/posting/execute", {"input": {"days": 2}})
    name = failed["instance_id"]

    incident = failed["incidents"][0]
    assert incident["inputs"] == {"parcel": SHOWN, "patience": "PT3H"}
    for path in ("", "/incidents", "/journal", "/executions"):
        assert not tagged(await api.get(f"/api/instances/{name}{path}")), path
    assert not tagged(await api.get("/api/incidents"))

    broken = False
    await api.post(f"/api/instances/{name}/retry", {field: incident[field] for field in ("activity_id", "inputs")})
    done = await api.until(f"/api/instances/{name}", lambda found: found["status"] == "finished")
    assert list(done["state"]["outputs"].values()) == [SHOWN]


async def test_what_a_bookmark_waits_for_is_plain(serve: Serve) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[asking]))
    name = (await api.post("/api/definitions/asking/execute"))["instance_id"]

    (found,) = (await api.get(f"/api/bookmarks?instance_id={name}"))["items"]

    assert found["payload"]["key"] == "PT3H"


class Size(Enum):
    SMALL = 1


async def test_what_a_task_is_about_is_plain_in_the_same_forms(serve: Serve) -> None:
    about = {"parcel": Parcel(Decimal("4.50"), timedelta(days=2)), "size": Size.SMALL, "limit": float("inf")}
    asked = Workflow(HumanTask("Look", about=about), id="asked", variables={"about": about})
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[asked], types=[Parcel, Size]))
    name = (await api.post("/api/definitions/asked/execute"))["instance_id"]

    (task,) = (await api.get("/api/tasks"))["items"]
    detail = await api.get(f"/api/instances/{name}")

    assert task["about"] == detail["state"]["variables"]["about"]
    assert task["about"]["parcel"] == SHOWN
