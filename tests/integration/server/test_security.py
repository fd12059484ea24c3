"""What a role must not get by a side door: links, files, trials, other people's tasks."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from holdfast import Workflow
from holdfast.activities import HumanTask
from holdfast.engine import Holdfast
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import HELLO, WAITING

PASSWORD = "let me in please"
paying = Workflow(HumanTask("Pay it", role="finance"), id="paying")


class House:
    """A server with sign-in, and a key for each role."""

    def __init__(self, api: Caller, admin: dict[str, str]) -> None:
        self.api = api
        self.admin = admin

    async def key(self, *roles: str) -> dict[str, str]:
        made = await self.api.post("/api/api-keys", {"name": "k", "roles": list(roles)}, headers=self.admin, expect=201)
        return {"X-Api-Key": made["key"]}

    async def role(self, name: str, *permissions: str) -> None:
        await self.api.put(f"/api/roles/{name}", {"permissions": list(permissions)}, headers=self.admin)

    async def started(self, definition: str) -> Any:
        return await self.api.post(f"/api/definitions/{definition}/execute", headers=self.admin)


@pytest.fixture
async def house(serve: Serve) -> House:
    engine = Holdfast(store="memory://", entry_points=False, workflows=[paying], admin_password=PASSWORD)
    api = await serve(engine, auth=True)
    for document in (HELLO, WAITING):
        await engine.runtime.definitions.save_and_publish(document)
    token = (await api.post("/api/auth/login", {"user": "admin", "password": PASSWORD}))["access_token"]
    return House(api, {"Authorization": f"Bearer {token}"})


# -- links -------------------------------------------------------------------------------------------------------------


async def test_a_link_is_for_those_who_may_resume(house: House) -> None:
    started = await house.started("waiting")
    name = started["instance_id"]

    for role, expected in (("viewer", False), ("operator", True)):
        headers = await house.key(role)
        detail = await house.api.get(f"/api/instances/{name}", headers=headers)
        listed = await house.api.get(f"/api/bookmarks?instance_id={name}", headers=headers)
        links = [found["resume_url"] for found in (*detail["state"]["bookmarks"], *listed["items"])]
        assert [link is not None for link in links] == [expected, expected], role


async def test_who_follows_a_link_is_not_given_the_next_one(house: House) -> None:
    two = {**WAITING, "id": "two", "root": {"type": "Sequence", "id": "main", "activities": [_wait(1), _wait(2)]}}
    await house.api.engine.runtime.definitions.save_and_publish(two)
    link = (await house.started("two"))["bookmarks"][0]["resume_url"].partition("/api/")[2]

    answer = await house.api.post(f"/api/{link}")
    used = await house.api.post(f"/api/{link}", expect=404)

    assert "b2" not in str(used)
    assert (answer["status"], answer["bookmarks"], answer["incidents"]) == ("suspended", [], [])


def _wait(number: int) -> dict[str, Any]:
    return {"type": "Event", "id": f"wait{number}", "inputs": {"event_name": f"go{number}"}}


async def test_who_starts_an_instance_is_given_no_links_to_resume_it(house: House) -> None:
    await house.role("starter", "definitions:execute")
    headers = await house.key("starter")

    plain = await house.api.post("/api/definitions/waiting/execute", headers=headers)
    detour = await house.api.post("/api/definitions/waiting/execute", {}, headers={**headers, "Accept": "*/*"})

    for answer in (plain, detour):
        assert [found["resume_url"] for found in answer["bookmarks"]] == [None]


# -- files -------------------------------------------------------------------------------------------------------------


async def exported(house: House, definition: str = "waiting") -> dict[str, Any]:
    """An instance as a file; it is gone here."""
    name = (await house.started(definition))["instance_id"]
    found: dict[str, Any] = await house.api.get(f"/api/instances/{name}/export", headers=house.admin)
    await house.api.post(f"/api/instances/{name}/cancel", headers=house.admin)
    await house.api.delete(f"/api/instances/{name}", headers=house.admin)
    return found


def record(kind: str, instance_id: str, payload: Any) -> dict[str, Any]:
    moment = "2026-01-01T00:00:00Z"
    return {
        "kind": kind,
        "id": "mallory",
        "instance_id": instance_id,
        "created": moment,
        "updated": moment,
        "payload": b64encode(msgspec.json.encode(payload)).decode(),
    }


@pytest.mark.parametrize("kind", ["user", "role", "api-key", "session"])
async def test_an_imported_instance_brings_no_accounts(house: House, kind: str) -> None:
    found = await exported(house)
    user = {"id": "mallory", "name": "mallory", "roles": ["admin"], "created": "2026-01-01T00:00:00Z"}
    found["export"]["records"] = [record(kind, found["export"]["instance"]["id"], user)]

    await house.api.post("/api/instances/import", found, headers=await house.key("operator"), expect=422)

    await house.api.get("/api/users/mallory", headers=house.admin, expect=404)


async def test_an_imported_instance_brings_nothing_of_another_one(house: House) -> None:
    found = await exported(house)
    (bookmark,) = found["export"]["bookmarks"]
    found["export"]["bookmarks"] = [{**bookmark, "instance_id": "somebody-else"}]

    refused = await house.api.post("/api/instances/import", found, headers=house.admin, expect=422)

    assert refused["code"] == "instance.invalid_state"


async def test_who_may_not_write_definitions_brings_none_with_an_instance(house: House) -> None:
    found = await exported(house)
    operator = await house.key("operator")
    await house.api.delete("/api/definitions/waiting", headers=house.admin)
    while await house.api.engine.runtime.store.delete_unused_content(100):
        pass

    refused = await house.api.post("/api/instances/import", found, headers=operator, expect=403)
    assert "definitions:write" in refused["detail"]
    await house.api.get("/api/definitions/waiting", headers=house.admin, expect=404)

    await house.api.post("/api/instances/import", found, headers=house.admin, expect=201)


# -- trials ------------------------------------------------------------------------------------------------------------


async def test_only_who_writes_workflows_tries_activities(house: House) -> None:
    body = {"activity": {"type": "WriteLine", "inputs": {"text": "hello"}}}

    await house.api.post("/api/test-activity", body, headers=await house.key("operator"), expect=403)
    tried = await house.api.post("/api/test-activity", body, headers=await house.key("designer"))

    assert tried["lines"] == ["hello"]


async def test_a_preview_shows_an_instance_to_those_who_may_see_it(house: House) -> None:
    name = (await house.started("waiting"))["instance_id"]
    await house.api.put("/api/roles/author", {"permissions": ["definitions:write"]}, headers=house.admin)
    author, body = await house.key("author"), {"language": "python", "expression": "1 + 1"}

    assert (await house.api.post("/api/preview", body, headers=author))["value"] == 2
    await house.api.post("/api/preview", {**body, "instance_id": name}, headers=author, expect=403)
    await house.api.post("/api/preview", {**body, "instance_id": name}, headers=await house.key("designer"))


async def test_who_only_reads_evaluates_nothing(house: House) -> None:
    viewer = await house.key("viewer")
    await house.api.post("/api/preview", {"language": "python", "expression": "1 + 1"}, headers=viewer, expect=403)
    for path in ("/api/definitions/validate", "/api/definitions/x/validate"):
        await house.api.post(path, {"root": {"type": "WriteLine"}}, headers=viewer, expect=403)


async def test_evaluations_are_limited_per_principal(house: House) -> None:
    body = {"language": "python", "expression": "1 + 1"}
    eager, other = await house.key("designer"), await house.key("admin")
    statuses = [(await house.api.ask("POST", "/api/preview", body, headers=eager)).status for _ in range(200)]
    assert statuses[0] == 200
    assert 429 in statuses
    await house.api.post("/api/preview", body, headers=other)


# -- tasks -------------------------------------------------------------------------------------------------------------


async def test_a_worker_sees_no_tasks_of_others(house: House) -> None:
    await house.started("paying")
    await house.api.put("/api/roles/finance", {"permissions": ["tasks:read"]}, headers=house.admin)
    (task,) = (await house.api.get("/api/tasks", headers=house.admin))["items"]
    worker, clerk = await house.key("worker"), await house.key("worker", "finance")

    assert (await house.api.get("/api/tasks?role=finance", headers=worker))["items"] == []
    await house.api.get(f"/api/tasks/{task['id']}", headers=worker, expect=403)
    assert len((await house.api.get("/api/tasks?role=finance", headers=clerk))["items"]) == 1
    assert (await house.api.get(f"/api/tasks/{task['id']}", headers=clerk))["title"] == "Pay it"


@pytest.mark.parametrize("how", ["task_id", "instance"])
async def test_a_task_is_not_answered_by_an_event(house: House, how: str) -> None:
    name = (await house.started("paying"))["instance_id"]
    await house.role("sender", "events:send", "tasks:read", "instances:read")
    (task,) = (await house.api.get("/api/tasks", headers=house.admin))["items"]
    body = {"type": "HumanTask", "payload": {"task_id": task["id"]}, "instance_id": name if how == "instance" else None}

    refused = await house.api.post("/api/stimuli", body, headers=await house.key("sender"), expect=403)

    assert "instances:write" in refused["detail"]
    assert (await house.api.get(f"/api/tasks/{task['id']}", headers=house.admin))["state"] == "open"


async def test_an_operator_passes_no_task_of_others_by_any_route(house: House) -> None:
    api, admin = house.api, house.admin
    name = (await house.started("paying"))["instance_id"]
    (task,) = (await api.get("/api/tasks", headers=admin))["items"]
    (mark,) = (await api.get(f"/api/bookmarks?instance_id={name}", headers=admin))["items"]
    operator = await house.key("operator")

    assert mark["resume_url"] is None
    link = urlsplit(str(api.app.backend.resume_url(name, mark["id"])))
    tries: list[tuple[str, Any, dict[str, str]]] = [
        (f"/api/tasks/{task['id']}/complete", {"answer": True}, operator),
        (f"/api/tasks/{task['id']}/claim", None, operator),
        (f"/api/instances/{name}/resume", {"payload": True}, operator),
        (f"/api/instances/{name}/resume", {"bookmark_id": mark["id"], "payload": True}, operator),
        (f"/api/instances/{name}/resume", {"payload": True}, {**operator, "Idempotency-Key": "k"}),
        (f"/api/instances/{name}/skip", {"activity_id": task["activity_id"]}, operator),
        ("/api/stimuli", {"type": "HumanTask", "payload": {"task_id": task["id"]}, "instance_id": name}, operator),
        (f"{link.path}?{link.query}", True, {}),
    ]
    for path, body, headers in tries:
        refused = await api.post(path, body, headers=headers, expect=403)
        assert refused["code"].startswith("task.not_"), path
    assert (await api.get(f"/api/tasks/{task['id']}", headers=admin))["state"] == "open"
    await api.post(f"/api/instances/{name}/resume", {"payload": True}, headers=admin)


# -- accounts ----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def clerk(house: House) -> dict[str, str]:
    """One who looks after accounts, and may do little else."""
    await house.role("clerk", "users:read", "users:write", "tasks:read")
    return await house.key("clerk")


async def test_nobody_touches_an_account_that_has_more(house: House, clerk: dict[str, str]) -> None:
    api, admin = house.api, house.admin
    await api.post("/api/users", {"user": "boss", "password": PASSWORD, "roles": ["admin"]}, headers=admin, expect=201)
    made = await api.post("/api/api-keys", {"name": "k", "roles": ["operator"]}, headers=admin, expect=201)
    await house.role("strong", "definitions:write")

    await api.delete(f"/api/api-keys/{made['id']}", headers=clerk, expect=403)
    await api.delete("/api/roles/strong", headers=clerk, expect=403)
    await api.put("/api/roles/strong", {"permissions": []}, headers=clerk, expect=403)
    await api.put("/api/roles/clerk", {"permissions": ["users:write", "settings:read"]}, headers=clerk, expect=403)
    changes: list[dict[str, Any]] = [{"password": PASSWORD * 2}, {"active": False}, {"roles": []}, {"name": "x"}]
    for change in changes:
        await api.patch("/api/users/boss", change, headers=clerk, expect=403)
    await api.delete("/api/users/boss", headers=clerk, expect=403)
    for roles in (["admin"], ["strong"], ["clerk", "viewer"]):
        await api.post("/api/api-keys", {"name": "k", "roles": roles}, headers=clerk, expect=403)
        body = {"user": "me", "password": PASSWORD, "roles": roles}
        await api.post("/api/users", body, headers=clerk, expect=403)

    own = await api.post("/api/api-keys", {"name": "k", "roles": ["clerk"]}, headers=clerk, expect=201)
    await api.delete(f"/api/api-keys/{own['id']}", headers=clerk)
    await api.delete("/api/api-keys/nobody", headers=clerk, expect=404)


async def test_a_key_that_comes_as_a_bearer_token_has_no_session_to_end(house: House) -> None:
    key = (await house.key("viewer"))["X-Api-Key"]

    await house.api.post("/api/auth/logout", headers={"Authorization": f"Bearer {key}"}, expect=204)
    await house.api.get("/api/auth/me", headers={"Authorization": f"Bearer {key}"})


# -- what one request does in place of another -------------------------------------------------------------------------


async def test_many_need_what_one_needs(house: House) -> None:
    name = (await house.started("waiting"))["instance_id"]
    await house.role("deleter", "instances:read", "instances:delete")
    deleter, designer = await house.key("deleter"), await house.key("designer")

    for action in ("cancel", "retry"):
        body = {"action": action, "ids": [name]}
        await house.api.post("/api/instances/bulk", body, headers=deleter, expect=403)
    await house.api.post("/api/instances/bulk", {"action": "delete", "ids": [name]}, headers=designer, expect=403)
    done = await house.api.post("/api/instances/bulk", {"action": "cancel", "ids": [name]}, headers=designer)

    assert done["changed"] == 1


async def test_who_may_not_retract_deletes_nothing_that_is_published(house: House) -> None:
    await house.role("writer", "definitions:read", "definitions:write")
    writer = await house.key("writer")
    await house.api.put("/api/definitions/hello", {**HELLO, "name": "Next"}, headers=writer)

    await house.api.delete("/api/definitions/hello", headers=writer, expect=403)
    await house.api.delete("/api/definitions/hello/versions/1", headers=writer, expect=403)
    await house.api.delete("/api/definitions/hello/versions/2", headers=writer)
    await house.api.delete("/api/definitions/hello", headers=await house.key("designer"))
