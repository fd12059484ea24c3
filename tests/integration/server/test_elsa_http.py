"""Elsa's own HTTP workflows behind our door, as they were exported."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Cron, Event, HttpEndpoint, Sequence, StartAt, Timer
from tests.integration.server.conftest import Serve

_OWN = Path(__file__).parents[2] / "compat" / "elsa" / "http-fresh-bread.json"
_GIVEN = Path(__file__).parents[3].parent / "shared" / "conformance" / "elsa" / "HttpWorkflows__http-hello-world.json"


def endpoint_of(document: dict[str, Any]) -> str:
    found = next(item for item in document["root"]["activities"] if item["type"] == "Elsa.HttpEndpoint")
    return str(found["path"]["expression"]["value"]).strip("/")


@pytest.mark.parametrize(
    ("file", "answer"), [(_OWN, None), (_GIVEN, b"Hello World!")], ids=["fresh-bread", "hello-world"]
)
async def test_an_exported_workflow_answers(serve: Serve, file: Path, answer: bytes | None) -> None:
    if not file.exists():
        pytest.skip("the given cases are not beside the repository")
    document = json.loads(file.read_text(encoding="utf-8"))
    api = await serve()
    await api.engine.runtime.definitions.save_and_publish(document)

    found = await api.ask("GET", f"/workflows/{endpoint_of(document)}")

    assert found.status == 200
    if answer is not None:
        assert found.body == answer
    else:
        assert found.body


async def test_triggers_are_indexed_one_row_each_and_an_endpoint_one_per_method(serve: Serve) -> None:
    many = Workflow(
        Sequence(
            Event("a", can_start=True),
            Timer(timedelta(hours=1), can_start=True),
            Cron("0 0 1 1 *", can_start=True),
            StartAt(datetime(2100, 1, 1, tzinfo=UTC), can_start=True),
            HttpEndpoint(path="x/{id}", supported_methods=["GET", "POST"], can_start=True),
        ),
        id="many",
    )
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[many]))

    found = await api.engine.runtime.triggers.list("many")

    assert sorted(item.type for item in found) == ["Cron", "Event", "HttpEndpoint", "HttpEndpoint", "StartAt", "Timer"]
    assert {item.payload["method"] for item in found if item.type == "HttpEndpoint"} == {"get", "post"}
