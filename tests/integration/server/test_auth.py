"""Sign-in over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import HttpEndpoint
from holdfast.errors import NotSignedIn, SettingsError
from holdfast.model.principal import ROLES, Principal
from holdfast.ports import RequestFacts
from holdfast.server.security import check_open_address
from tests.integration.server.conftest import Caller, Serve

PASSWORD = "let me in please"
SIGN_IN = {"user": "admin", "password": PASSWORD}


@pytest.fixture
async def api(serve: Serve) -> Caller:
    return await serve(Holdfast(store="memory://", entry_points=False, admin_password=PASSWORD), auth=True)


async def bearer(api: Caller, user: str = "admin", password: str = PASSWORD) -> dict[str, str]:
    signed = await api.post("/api/auth/login", {"user": user, "password": password})
    return {"Authorization": f"Bearer {signed['access_token']}"}


# -- the way in and out ------------------------------------------------------------------------------------------------


async def test_sign_in_refresh_and_sign_out(api: Caller) -> None:
    assert (await api.get("/api/auth/info"))["auth"] == "password"
    refused = await api.ask("GET", "/api/auth/me")
    assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, "Bearer")

    signed = await api.post("/api/auth/login", {"user": "Admin", "password": PASSWORD})
    assert signed["expires_in"] == 900
    me = await api.get("/api/auth/me", headers={"Authorization": f"Bearer {signed['access_token']}"})
    assert (me["id"], me["roles"]) == ("admin", ["admin"])
    fresh = await api.post("/api/auth/refresh", {"refresh_token": signed["refresh_token"]})
    headers = {"Authorization": f"Bearer {fresh['access_token']}"}
    await api.post("/api/auth/logout", headers=headers, expect=204)
    await api.get("/api/auth/me", headers=headers, expect=401)
    await api.post("/api/auth/refresh", {"refresh_token": fresh["refresh_token"]}, expect=401)


async def test_wrong_passwords_are_slowed_down(api: Caller) -> None:
    answers = [await api.ask("POST", "/api/auth/login", {"user": "admin", "password": f"wrong {n}"}) for n in range(6)]

    assert [answer.status for answer in answers] == [401] * 5 + [429]
    assert int(answers[-1].headers["Retry-After"]) >= 1


async def test_a_browser_that_signed_in_before_is_not_locked_out(api: Caller) -> None:
    signed = await api.ask("POST", "/api/auth/login", SIGN_IN)
    cookie = signed.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/api/auth" in cookie
    api.session.cookie_jar.clear()
    wrong = {"user": "admin", "password": "wrong"}
    statuses = [(await api.ask("POST", "/api/auth/login", wrong)).status for _ in range(6)]
    assert statuses[-1] == 429

    await api.post("/api/auth/login", SIGN_IN, expect=429)
    await api.post("/api/auth/login", SIGN_IN, headers={"Cookie": cookie.partition(";")[0]})


async def test_guesses_of_the_own_password_are_slowed_down_too(api: Caller) -> None:
    """Who found a token must not learn the password with it."""
    guess: dict[str, Any] = {"headers": await bearer(api)}
    answers = [
        await api.ask("POST", "/api/auth/password", {"current": f"wrong {n}", "password": "another one"}, **guess)
        for n in range(6)
    ]

    assert [answer.status for answer in answers] == [401] * 5 + [429]


async def test_users_roles_and_keys(api: Caller) -> None:
    admin: dict[str, Any] = {"headers": await bearer(api)}
    await api.put("/api/roles/clerk", {"permissions": ["tasks:read"]}, **admin)
    made = await api.post("/api/users", {"user": "Kim", "password": PASSWORD, "roles": ["clerk"]}, expect=201, **admin)
    assert (made["id"], made["roles"], "password" in made) == ("kim", ["clerk"], False)
    await api.post("/api/users", {"user": "kim", "password": PASSWORD}, expect=409, **admin)
    await api.post("/api/users", {"user": "lee", "password": "short"}, expect=422, **admin)
    kim: dict[str, Any] = {"headers": await bearer(api, "kim")}
    assert (await api.get("/api/auth/me", **kim))["permissions"] == ["tasks:read"]
    await api.get("/api/users", expect=403, **kim)

    key = await api.post("/api/api-keys", {"name": "import", "roles": ["viewer"]}, expect=201, **admin)
    by_key: dict[str, Any] = {"headers": {"X-Api-Key": key["key"]}}
    assert (await api.get("/api/auth/me", **by_key))["name"] == "import"
    assert key["key"] not in str(await api.get("/api/api-keys", **admin))
    await api.delete(f"/api/api-keys/{key['id']}", **admin)
    await api.get("/api/auth/me", expect=401, **by_key)

    await api.patch("/api/users/kim", {"active": False}, **admin)
    await api.get("/api/auth/me", expect=401, **kim)
    await api.delete("/api/users/kim", **admin)
    await api.get("/api/users/kim", expect=404, **admin)
    await api.delete("/api/users/admin", expect=422, **admin)


async def test_keys_belong_to_their_maker_or_to_a_service_account(api: Caller) -> None:
    admin = await bearer(api)
    robot: dict[str, Any] = {"user": "robot", "is_service": True, "roles": ["viewer"]}
    for person in ({"user": "kim", "password": PASSWORD, "roles": ["admin"]}, robot):
        await api.post("/api/users", person, headers=admin, expect=201)
    await api.post("/api/users", {"user": "none"}, headers=admin, expect=422)
    await api.post("/api/users", {**robot, "user": "x", "password": PASSWORD}, headers=admin, expect=422)
    kim = await bearer(api, "kim")

    mine = await api.post("/api/api-keys", {"name": "mine", "roles": ["admin"]}, headers=kim, expect=201)
    nested = await api.post(
        "/api/api-keys", {"name": "nested", "roles": ["viewer"]}, headers={"X-Api-Key": mine["key"]}, expect=201
    )
    robots = await api.post(
        "/api/api-keys", {"name": "r", "roles": ["viewer"], "owner": "robot"}, headers=kim, expect=201
    )
    await api.post("/api/api-keys", {"name": "theirs", "roles": ["viewer"], "owner": "admin"}, headers=kim, expect=422)
    assert [made["owner"] for made in (mine, nested, robots)] == ["kim", "kim", "robot"]
    assert all(made["expires"] for made in (mine, nested, robots))

    await api.delete("/api/users/kim", headers=admin)
    for made in (mine, nested):
        await api.get("/api/auth/me", headers={"X-Api-Key": made["key"]}, expect=401)
    await api.get("/api/auth/me", headers={"X-Api-Key": robots["key"]})
    (left,) = (await api.get("/api/api-keys", headers=admin))["items"]
    assert left["last_used"] is not None


async def test_nobody_gives_away_more_than_they_have(api: Caller) -> None:
    admin: dict[str, Any] = {"headers": await bearer(api)}
    await api.put("/api/roles/gatekeeper", {"permissions": ["users:read", "users:write"]}, **admin)
    await api.post("/api/users", {"user": "gate", "password": PASSWORD, "roles": ["gatekeeper"]}, expect=201, **admin)
    gate: dict[str, Any] = {"headers": await bearer(api, "gate")}

    await api.post("/api/users", {"user": "me2", "password": PASSWORD, "roles": ["admin"]}, expect=403, **gate)
    await api.patch("/api/users/gate", {"roles": ["admin"]}, expect=403, **gate)
    await api.patch("/api/users/admin", {"password": "mine now, thanks"}, expect=403, **gate)
    await api.put("/api/roles/gatekeeper", {"permissions": ["settings:read"]}, expect=403, **gate)
    await api.post("/api/api-keys", {"name": "k", "roles": ["operator"]}, expect=403, **gate)


async def test_a_user_changes_the_own_password(api: Caller) -> None:
    headers = await bearer(api)
    await api.post("/api/auth/password", {"current": "wrong", "password": "another one"}, expect=401, headers=headers)
    await api.post("/api/auth/password", {"current": PASSWORD, "password": "another one"}, expect=204, headers=headers)

    await api.get("/api/auth/me", expect=401, headers=headers)
    await bearer(api, password="another one")


async def test_the_first_admin_is_printed_once(serve: Serve) -> None:
    engine = Holdfast(store="memory://", entry_points=False)
    api = await serve(engine, auth=True)

    word = api.app.backend.first_password

    assert word
    await bearer(api, password=word)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::"])
def test_without_sign_in_only_this_machine_is_served(host: str) -> None:
    with pytest.raises(SettingsError, match="only to this machine"):
        check_open_address(host)
    check_open_address("127.0.0.1")
    check_open_address("localhost")


async def test_without_sign_in_other_names_of_this_machine_are_refused(serve: Serve) -> None:
    api = await serve()

    assert (await api.get("/api/auth/me"))["id"] == "local"
    await api.get("/api/auth/me", headers={"Host": "evil.example"}, expect=401)
    await api.get("/api/auth/me", headers={"Origin": "https://evil.example"}, expect=401)
    await api.get("/api/auth/me", headers={"Host": "localhost:80", "Origin": "http://127.0.0.1:3000"})


# -- others ------------------------------------------------------------------------------------------------------------


class CompanyHeader:
    """An authenticator of somebody else."""

    async def authenticate(self, request: RequestFacts) -> Principal | None:
        name = request.headers.get("x-company-user")
        if name is None:
            return None
        if name == "stranger":
            raise NotSignedIn("The company does not know you.")
        return Principal(id=name, name=name, roles=frozenset({"viewer"}), permissions=ROLES["viewer"])


async def test_others_may_say_who_somebody_is(serve: Serve) -> None:
    engine = Holdfast(store="memory://", entry_points=False, admin_password=PASSWORD)
    api = await serve(engine, auth=True, authenticators=[CompanyHeader()])

    assert (await api.get("/api/auth/me", headers={"X-Company-User": "kim"}))["id"] == "kim"
    assert (await api.get("/api/auth/me", headers=await bearer(api)))["id"] == "admin"
    await api.get("/api/auth/me", headers={**await bearer(api), "X-Company-User": "stranger"}, expect=401)
    await api.delete("/api/users/x", headers={"X-Company-User": "kim"}, expect=403)


@pytest.mark.parametrize("headers", [{"Host": "["}, {"Origin": "http://["}])
async def test_an_address_that_is_none_is_nobody_of_this_machine(serve: Serve, headers: dict[str, str]) -> None:
    api = await serve()

    await api.get("/api/auth/me", headers=headers, expect=401)


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": "evil.example:8600", "Origin": "null"}],
)
async def test_without_sign_in_foreign_pages_start_no_workflow(serve: Serve, headers: dict[str, str]) -> None:
    opened = Workflow(HttpEndpoint(path="open", can_start=True, supported_methods=["GET", "POST"]), id="opened")
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[opened]))

    for method in ("GET", "POST"):
        answer = await api.ask(method, "/workflows/open", headers=headers)
        assert (answer.status, answer.body["code"]) == (401, "access.not_signed_in")
    assert (await api.get("/api/instances"))["items"] == []
    assert (await api.ask("GET", "/workflows/open")).status == 200
