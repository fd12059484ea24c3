"""Events of status changes, the same with and without a store."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Runner, Workflow, activity, telemetry
from holdfast.activities import Event, WriteLine
from holdfast.runtime.observability.status_events import emit_status, names_of


@activity
async def broken() -> None:
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("root", "name", "more"),
    [
        (Event("go"), "instance.suspended", {"bookmarks": 1}),
        (WriteLine("hello"), "instance.finished", {"activities": 1}),
        (broken.bind(), "instance.faulted", {"incidents": 1}),
    ],
)
async def test_each_status_has_its_event(runner: Runner, root: Any, name: str, more: dict[str, int]) -> None:
    live = (await runner.run(Workflow(root, id="w"), instance_id="i"))._live
    emitted: list[tuple[str, dict[str, Any]]] = []

    with telemetry.on(lambda event, fields: emitted.append((event, dict(fields)))):
        emit_status(live, names_of("acme", live))

    assert [event for event, _ in emitted] == [name]
    fields = emitted[0][1]
    assert (fields["tenant"], fields["instance_id"], fields["definition_id"]) == ("acme", live.id, "w")
    assert all(fields[key] >= value for key, value in more.items())
