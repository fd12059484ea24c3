"""Accounts on a store in memory: sign-in, sessions, keys, roles, back-off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from argon2 import PasswordHasher

from holdfast.errors import (
    AccountNotFound,
    AccountRefused,
    AlreadyStored,
    NotSignedIn,
    SettingsError,
    SignInBusy,
    TooManyAttempts,
)
from holdfast.identity.accounts import PRINCIPAL_CACHE_TIME, Accounts
from holdfast.identity.passwords import PARALLEL, Passwords
from holdfast.identity.tokens import ResumeClaims
from holdfast.identity.user import User
from holdfast.model.principal import PERMISSIONS, ROLES
from holdfast.model.record_rows import RecordQuery
from holdfast.persistence import store_from_url
from holdfast.ports import RequestFacts, Store
from holdfast.testing.clock import VirtualClock

PASSWORD = "correct horse"


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Quick ones: how dear a hash is, is not the matter here."""
    made = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    yield made
    made.close()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = store_from_url("memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'accounts.db'}")
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def accounts(store: Store, clock: VirtualClock, passwords: Passwords) -> Accounts:
    return await Accounts.open(store, clock.now, passwords=passwords)


def asking(**headers: str) -> RequestFacts:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestFacts(method="GET", path="/api/x", headers=names, query={})


async def pass_time(clock: VirtualClock, time: timedelta) -> None:
    await clock.wait_until(clock.now() + time)


# -- the first admin ---------------------------------------------------------------------------------------------------


async def test_the_first_admin_is_made_once_by_whoever_is_first(
    store: Store, clock: VirtualClock, passwords: Passwords
) -> None:
    processes = [await Accounts.open(store, clock.now, passwords=passwords) for _ in range(4)]

    printed = [word for word in await asyncio.gather(*(item.first_admin() for item in processes)) if word]

    assert len(printed) == 1
    signed = await processes[-1].sign_in("admin", printed[0])
    assert signed.principal.permissions == PERMISSIONS.keys()
    assert await processes[0].first_admin() is None


async def test_a_given_password_is_not_told(accounts: Accounts) -> None:
    assert await accounts.first_admin(PASSWORD) is None
    assert (await accounts.sign_in("Admin", PASSWORD)).principal.roles == {"admin"}


# -- sign-in -----------------------------------------------------------------------------------------------------------


async def test_wrong_names_and_wrong_passwords_are_answered_alike(accounts: Accounts) -> None:
    await accounts.users.add("kim", PASSWORD)

    with pytest.raises(NotSignedIn) as wrong_password:
        await accounts.sign_in("kim", "wrong")
    with pytest.raises(NotSignedIn) as wrong_name:
        await accounts.sign_in("nobody", PASSWORD)

    assert str(wrong_password.value) == str(wrong_name.value)


async def test_failures_are_answered_slower_and_slower_and_a_success_forgets(
    accounts: Accounts, clock: VirtualClock
) -> None:
    await accounts.users.add("kim", PASSWORD)

    async def fail(times: int) -> None:
        for _ in range(times):
            with pytest.raises(NotSignedIn):
                await accounts.sign_in("kim", "wrong", address="1.2.3.4")

    await fail(5)
    with pytest.raises(TooManyAttempts) as first:
        await accounts.sign_in("kim", PASSWORD, address="1.2.3.4")
    await pass_time(clock, first.value.wait)
    await fail(1)
    with pytest.raises(TooManyAttempts) as second:
        await accounts.sign_in("kim", PASSWORD, address="1.2.3.4")

    assert second.value.wait > first.value.wait
    assert await accounts.sign_in("kim", PASSWORD, address="5.6.7.8")  # somebody else's mistakes lock nobody out
    await pass_time(clock, second.value.wait)
    assert await accounts.sign_in("kim", PASSWORD, address="1.2.3.4")
    await fail(4)
    assert await accounts.sign_in("kim", PASSWORD, address="1.2.3.4")


async def test_parallel_guesses_are_counted_before_they_are_verified(accounts: Accounts, clock: VirtualClock) -> None:
    await accounts.users.add("kim", PASSWORD)
    guesses = [accounts.sign_in("kim", f"wrong {number}", address="1.2.3.4") for number in range(100)]

    answers = await asyncio.gather(*guesses, return_exceptions=True)

    assert [type(answer) for answer in answers].count(NotSignedIn) == 5
    assert sum(isinstance(answer, TooManyAttempts) for answer in answers) == 95


async def test_strangers_do_not_lock_a_known_device_out(accounts: Accounts) -> None:
    await accounts.users.add("kim", PASSWORD)
    await accounts.users.add("eve", PASSWORD)
    known = (await accounts.sign_in("kim", PASSWORD, address="1.2.3.4")).device
    foreign = (await accounts.sign_in("eve", PASSWORD, address="6.6.6.6")).device
    for number in range(60):
        with pytest.raises((NotSignedIn, TooManyAttempts)):
            await accounts.sign_in("kim", "wrong", address=f"6.6.6.{number}")

    for token in (None, "", "hfd_x_y", foreign, known[:-1]):
        with pytest.raises(TooManyAttempts):
            await accounts.sign_in("kim", PASSWORD, address="1.2.3.4", device_token=token)
    assert await accounts.sign_in("kim", PASSWORD, address="1.2.3.4", device_token=known)


async def test_a_known_device_has_few_guesses_too_and_none_after_a_new_password(accounts: Accounts) -> None:
    await accounts.users.add("kim", PASSWORD)
    known = (await accounts.sign_in("kim", PASSWORD)).device
    for _ in range(5):
        with pytest.raises(NotSignedIn):
            await accounts.sign_in("kim", "wrong", device_token=known)
    with pytest.raises(TooManyAttempts):
        await accounts.sign_in("kim", PASSWORD, device_token=known)

    assert await accounts.sign_in("kim", PASSWORD)  # the counters of strangers are others
    await accounts.change_password("kim", "another password")
    for _ in range(5):
        with pytest.raises(NotSignedIn):
            await accounts.sign_in("kim", "wrong", device_token=known)
    with pytest.raises(TooManyAttempts):
        await accounts.sign_in("kim", "another password")  # it counted as a stranger


async def test_success_of_one_user_frees_no_guesses_at_another(accounts: Accounts) -> None:
    await accounts.users.add("eve", PASSWORD)
    for number in range(200):
        with pytest.raises(NotSignedIn):
            await accounts.sign_in(f"user{number}", "wrong", address="6.6.6.6")

    with pytest.raises(TooManyAttempts):
        await accounts.sign_in("eve", PASSWORD, address="6.6.6.6")


async def test_the_queue_of_verifications_is_bounded_and_refusals_do_not_count(
    store: Store, clock: VirtualClock
) -> None:
    passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1), queue_max=3)
    accounts = await Accounts.open(store, clock.now, passwords=passwords)
    await accounts.users.add("kim", PASSWORD)
    known = (await accounts.sign_in("kim", PASSWORD)).device
    held = threading.Event()
    for _ in range(PARALLEL):
        passwords._threads.submit(held.wait)
    waiting = [asyncio.create_task(accounts.sign_in(f"user{n}", "wrong", address=f"1.1.1.{n}")) for n in range(3)]
    async with asyncio.timeout(20):
        while passwords._queued[False] < 3:  # noqa: ASYNC110 - the queue has no event
            await asyncio.sleep(0)

    for _ in range(10):
        with pytest.raises(SignInBusy):
            await accounts.sign_in("kim", PASSWORD, address="2.2.2.2")
    device = asyncio.create_task(accounts.sign_in("kim", PASSWORD, device_token=known))
    held.set()

    assert (await device).principal.id == "kim"
    assert all(isinstance(found, NotSignedIn) for found in await asyncio.gather(*waiting, return_exceptions=True))
    assert await accounts.sign_in("kim", PASSWORD, address="2.2.2.2")
    accounts.close()


async def test_a_hash_with_old_parameters_is_renewed_at_sign_in(
    store: Store, clock: VirtualClock, accounts: Accounts
) -> None:
    before = await accounts.users.add("kim", PASSWORD)
    stronger = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    later = await Accounts.open(store, clock.now, passwords=stronger)

    await later.sign_in("kim", PASSWORD)

    after = await later.users.get("kim")
    assert after.password != before.password
    assert not stronger.is_outdated(after.password)
    stronger.close()


# -- tokens ------------------------------------------------------------------------------------------------------------


async def test_a_token_is_good_until_its_time_is_over(accounts: Accounts, clock: VirtualClock) -> None:
    await accounts.users.add("kim", PASSWORD, roles=["viewer"])
    signed = await accounts.sign_in("kim", PASSWORD)
    request = asking(authorization=f"Bearer {signed.access_token}")

    found = await accounts.authenticate(request)
    assert found is not None
    assert found.permissions == ROLES["viewer"]

    await pass_time(clock, signed.expires_in)
    with pytest.raises(NotSignedIn, match="expired"):
        await accounts.authenticate(request)


async def test_tokens_of_others_and_unsigned_ones_are_refused(accounts: Accounts) -> None:
    await accounts.users.add("kim", PASSWORD)
    token = (await accounts.sign_in("kim", PASSWORD)).access_token
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = [
        jwt.encode(claims, "", algorithm="none"),
        jwt.encode(claims, "x" * 32, algorithm="HS256"),
        token[:-2] + ("aa" if not token.endswith("aa") else "bb"),
        "nonsense",
        "",
    ]

    for text in forged:
        with pytest.raises(NotSignedIn):
            await accounts.authenticate_token(text)


async def test_sign_out_revokes_at_once_here_and_soon_elsewhere(
    store: Store, clock: VirtualClock, passwords: Passwords, accounts: Accounts
) -> None:
    other = await Accounts.open(store, clock.now, passwords=passwords)
    await accounts.users.add("kim", PASSWORD)
    token = (await accounts.sign_in("kim", PASSWORD)).access_token
    assert await other.authenticate_token(token)

    await accounts.sign_out(token)

    with pytest.raises(NotSignedIn):
        await accounts.authenticate_token(token)
    await pass_time(clock, PRINCIPAL_CACHE_TIME)
    with pytest.raises(NotSignedIn):
        await other.authenticate_token(token)


async def test_a_refresh_token_is_good_once_and_a_copy_ends_the_session(
    accounts: Accounts, clock: VirtualClock
) -> None:
    await accounts.users.add("kim", PASSWORD)
    first = await accounts.sign_in("kim", PASSWORD)
    second = await accounts.refresh(first.refresh_token)
    assert await accounts.refresh(first.refresh_token)  # another tab, at the same time

    await pass_time(clock, timedelta(minutes=1))
    with pytest.raises(NotSignedIn, match="already used"):
        await accounts.refresh(first.refresh_token)
    with pytest.raises(NotSignedIn):
        await accounts.refresh(second.refresh_token)


async def test_a_user_who_is_switched_off_or_removed_has_no_session_left(accounts: Accounts) -> None:
    await accounts.users.add("boss", PASSWORD, roles=["admin"])
    for name in ("kim", "lee"):
        await accounts.users.add(name, PASSWORD)
    kim, lee = await accounts.sign_in("kim", PASSWORD), await accounts.sign_in("lee", PASSWORD)

    await accounts.remove_user("kim")
    await accounts.users.change("lee", active=False)
    await accounts.end_sessions("lee")

    for signed in (kim, lee):
        with pytest.raises(NotSignedIn):
            await accounts.authenticate_token(signed.access_token)
        with pytest.raises(NotSignedIn):
            await accounts.refresh(signed.refresh_token)
    with pytest.raises(NotSignedIn):
        await accounts.sign_in("lee", PASSWORD)


async def test_a_short_secret_is_refused_and_a_made_one_is_shared(
    store: Store, clock: VirtualClock, passwords: Passwords, accounts: Accounts
) -> None:
    with pytest.raises(SettingsError, match="at least 32"):
        await Accounts.open(store, clock.now, secret="short", passwords=passwords)
    other = await Accounts.open(store, clock.now, passwords=passwords)
    await accounts.users.add("kim", PASSWORD)

    assert await other.authenticate_token((await accounts.sign_in("kim", PASSWORD)).access_token)


async def test_links_cannot_be_changed_and_expire(accounts: Accounts, clock: VirtualClock) -> None:
    claims = ResumeClaims(
        tenant="", instance_id="i1", bookmark="b1", expires=clock.now().replace(microsecond=0) + timedelta(hours=1)
    )
    link = accounts.links.issue(claims)
    body, _, signature = link.partition(".")

    assert accounts.links.read(link) == claims
    for text in (f"{body}x.{signature}", f"{body}.{signature[:-4]}AAAA", "", "a.b", "ä.ö", body):
        with pytest.raises(NotSignedIn):
            accounts.links.read(text)
    await pass_time(clock, timedelta(hours=1))
    with pytest.raises(NotSignedIn, match="expired"):
        accounts.links.read(link)


# -- API keys ----------------------------------------------------------------------------------------------------------


async def test_a_key_is_shown_once_kept_as_a_hash_and_can_be_removed(accounts: Accounts, clock: VirtualClock) -> None:
    key, text = await accounts.keys.add("import", roles=["operator"], expires=clock.now() + timedelta(days=1))

    found = await accounts.authenticate(asking(x_api_key=text))

    assert found is not None
    assert (found.name, sorted(found.roles)) == ("import", ["operator"])
    assert text.split("_", 2)[2] not in repr(await accounts.keys.list())
    with pytest.raises(NotSignedIn):
        await accounts.authenticate_key(text[:-1])
    await pass_time(clock, timedelta(days=1))
    with pytest.raises(NotSignedIn):
        await accounts.authenticate_key(text)
    await accounts.keys.remove(key.id)
    with pytest.raises(AccountNotFound):
        await accounts.keys.remove(key.id)


# -- users and roles ---------------------------------------------------------------------------------------------------


async def test_a_key_ends_with_its_owner(accounts: Accounts) -> None:
    await accounts.users.add("kim", PASSWORD, roles=["operator"])
    await accounts.users.add_service("nightly", roles=["viewer"])
    owners = ("kim", "nightly")
    keys = {owner: (await accounts.keys.add("k", roles=["viewer"], owner=owner))[1] for owner in owners}
    assert [(await accounts.authenticate_key(key)).roles for key in keys.values()] == [{"viewer"}] * 2

    await accounts.remove_user("kim")
    await accounts.users.change("nightly", active=False)
    accounts.clear_cache()

    for key in keys.values():
        with pytest.raises(NotSignedIn):
            await accounts.authenticate_key(key)
    assert [key.owner for key in await accounts.keys.list()] == ["nightly"]


async def test_a_key_has_no_more_permissions_than_its_owner_has_now(accounts: Accounts) -> None:
    await accounts.users.add_service("nightly", roles=["admin"])
    _, key = await accounts.keys.add("k", roles=["admin", "viewer"], owner="nightly")
    assert (await accounts.authenticate_key(key)).permissions == PERMISSIONS.keys()

    await accounts.users.change("nightly", roles=["viewer"])
    accounts.clear_cache()

    found = await accounts.authenticate_key(key)
    assert found.permissions == ROLES["viewer"]
    assert found.roles == {"viewer"}


async def test_every_key_expires_and_shows_its_last_use(accounts: Accounts, clock: VirtualClock) -> None:
    made, text = await accounts.keys.add("k", roles=["viewer"])
    assert made.expires == clock.now() + timedelta(days=365)
    assert made.last_used is None

    used = clock.now()
    await accounts.authenticate_key(text)
    await pass_time(clock, timedelta(minutes=30))
    await accounts.authenticate_key(text)
    assert (await accounts.keys.get(made.id)).last_used == used
    await pass_time(clock, timedelta(minutes=31))
    await accounts.authenticate_key(text)
    assert (await accounts.keys.get(made.id)).last_used == clock.now()
    await pass_time(clock, timedelta(days=365))
    with pytest.raises(NotSignedIn):
        await accounts.authenticate_key(text)


async def test_a_service_account_has_no_password_and_is_not_the_last_admin(accounts: Accounts) -> None:
    await accounts.first_admin(PASSWORD)
    await accounts.users.add_service("robot", roles=["admin"])

    for password in ("", PASSWORD):
        with pytest.raises(NotSignedIn):
            await accounts.sign_in("robot", password)
    with pytest.raises(AccountRefused):
        await accounts.change_password("robot", PASSWORD)
    with pytest.raises(AccountRefused):
        await accounts.remove_user("admin")
    await accounts.remove_user("robot")


async def test_names_are_unique_whatever_their_case(accounts: Accounts) -> None:
    await accounts.users.add("Kim@example.com", PASSWORD)

    with pytest.raises(AlreadyStored):
        await accounts.users.add("kim@EXAMPLE.com", PASSWORD)
    assert (await accounts.sign_in("KIM@example.com", PASSWORD)).principal.id == "kim@example.com"


async def test_the_last_admin_stays(accounts: Accounts) -> None:
    await accounts.users.add("boss", PASSWORD, roles=["admin"])
    await accounts.users.add("kim", PASSWORD, roles=["viewer"])

    for attempt in (
        accounts.remove_user("boss"),
        accounts.users.change("boss", roles=["viewer"]),
        accounts.users.change("boss", active=False),
    ):
        with pytest.raises(AccountRefused, match="last active admin"):
            await attempt
    await accounts.users.change("kim", roles=["admin"])
    await accounts.remove_user("boss")


@pytest.mark.parametrize("how", ["remove", "demote", "switch off"])
async def test_an_admin_stays_also_when_all_go_at_once(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    await accounts.users.add("boss", PASSWORD, roles=["admin"])
    await accounts.users.add("kim", PASSWORD, roles=["admin"])
    both, look = asyncio.Barrier(2), accounts.users._require_other_admin
    looked: set[str] = set()

    async def together(user: User) -> None:
        """Each has seen the other one before anything is written."""
        await look(user)
        if user.id not in looked:
            looked.add(user.id)
            await both.wait()

    monkeypatch.setattr(accounts.users, "_require_other_admin", together)

    async def go(name: str) -> None:
        if how == "remove":
            await accounts.remove_user(name)
        elif how == "demote":
            await accounts.users.change(name, roles=["viewer"])
        else:
            await accounts.users.change(name, active=False)

    done = await asyncio.gather(go("boss"), go("kim"), return_exceptions=True)

    assert any(isinstance(one, AccountRefused) for one in done)
    assert any("admin" in user.roles and user.active for user in await accounts.users.list())


async def test_roles_of_ones_own_take_effect_and_unknown_ones_are_refused(accounts: Accounts) -> None:
    with pytest.raises(AccountRefused, match="no role 'clerk'"):
        await accounts.users.add("kim", PASSWORD, roles=["clerk"])
    with pytest.raises(AccountRefused, match="built in"):
        await accounts.roles.put("admin", [])
    with pytest.raises(AccountRefused, match="Unknown permission"):
        await accounts.roles.put("clerk", ["everything"])

    await accounts.roles.put("clerk", ["tasks:read"])
    await accounts.users.add("kim", PASSWORD, roles=["clerk"])
    assert (await accounts.sign_in("kim", PASSWORD)).principal.permissions == {"tasks:read"}
    await accounts.roles.remove("clerk")
    assert (await accounts.sign_in("kim", PASSWORD)).principal.permissions == frozenset()


@pytest.mark.parametrize("bad", ["", "a b", "-x", "ä", "x" * 65, "a/b"])
async def test_names_that_cannot_be_one(accounts: Accounts, bad: str) -> None:
    with pytest.raises(AccountRefused):
        await accounts.users.add(bad, PASSWORD)
    with pytest.raises(AccountNotFound):
        await accounts.users.get(bad)


async def test_a_short_password_is_refused(accounts: Accounts) -> None:
    with pytest.raises(AccountRefused, match="at least 8"):
        await accounts.users.add("kim", "short")


async def test_sweeping_deletes_what_is_over(accounts: Accounts, clock: VirtualClock, store: Store) -> None:
    await accounts.users.add("kim", PASSWORD)
    await accounts.sign_in("kim", PASSWORD)
    with pytest.raises(NotSignedIn):
        await accounts.sign_in("kim", "wrong")
    await pass_time(clock, timedelta(days=31))

    await accounts.sweep()

    left = {
        kind: await store.count_records(RecordQuery(kind=kind)) for kind in ("user", "secret", "session", "sign-in")
    }
    assert left == {"user": 1, "secret": 1, "session": 0, "sign-in": 0}
