"""Holdfast in somebody's application: typed starts with handles, and starts in the caller's own transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from holdfast import Holdfast, Status, Workflow, activity, run_child, wait_for, workflow
from holdfast.errors import (
    AlreadyStarted,
    DefinitionError,
    HoldfastError,
    InstanceFaulted,
    InstanceNotFound,
    InvalidInput,
    NoResult,
    StoreMisconfigured,
)
from holdfast.model.requests import DispatchInstance
from holdfast.model.work import queue_of
from holdfast.runtime import handles
from holdfast.runtime.commits import work_rows
from tests.support.node import node_of
from tests.support.services.availability import Needed


@dataclass
class Approval:
    approved: bool


class Declined(Exception):
    pass


@activity
async def charge(order: str, amount: int) -> str:
    if amount < 0:
        raise Declined(order)
    return f"{order}: {amount}"


@workflow
async def fulfil(order: str, amount: int = 5) -> str:
    return await charge(order, amount)


@workflow
async def approving(order: str) -> str:
    answer = await wait_for(Approval)
    return "yes" if answer.approved else "no"


@workflow
async def delegating(order: str) -> str:
    return await run_child(below, order)


@workflow
async def below(order: str) -> str:
    return await charge(order, 7)


DRIVERS = {"sqlite": "aiosqlite", "postgresql": "asyncpg", "mysql": "asyncmy"}
WORKFLOWS = (fulfil, approving, delegating)


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[str, str]) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'kept.db'}"
    with Needed("postgres" if request.param == "postgresql" else "mysql"):
        return servers[request.param]


@pytest.fixture
async def app(url: str) -> AsyncIterator[Holdfast]:
    async with Holdfast(store=url, workflows=WORKFLOWS, entry_points=False) as app:
        yield app


@pytest.fixture
async def database(url: str, app: Holdfast) -> AsyncIterator[AsyncEngine]:
    """The caller's own table, in the database of the store."""
    scheme, _, rest = url.partition("://")
    engine = create_async_engine(f"{scheme}+{DRIVERS[scheme]}://{rest}")
    async with engine.begin() as connection:
        await connection.execute(text("create table if not exists orders (id varchar(40) primary key)"))
        await connection.execute(text("delete from orders"))
    yield engine
    await engine.dispose()


async def orders(database: AsyncEngine) -> list[str]:
    async with database.connect() as connection:
        return [row[0] for row in await connection.execute(text("select id from orders order by id"))]


# -- handles -----------------------------------------------------------------------------------------------------------


async def test_start_and_wait_for_the_result(app: Holdfast) -> None:
    instance = await app.start(fulfil, "7", amount=3)
    async with asyncio.timeout(20):
        assert await instance.result() == "7: 3"
    assert await instance.status() is Status.FINISHED
    assert await app.handle(fulfil, instance.id).result() == "7: 3"


async def test_wrong_arguments_of_on_and_result_name_the_right_ones(app: Holdfast) -> None:
    wrong: Any = app
    with pytest.raises(HoldfastError, match=r"handler first"):
        wrong.on("instance.finished", print)
    started = await app.start(fulfil, "7", amount=3)
    with pytest.raises(HoldfastError, match=r"timedelta\(seconds=1\)"):
        await started.result(timeout=1)  # type: ignore[arg-type]  # a number is refused


async def test_a_failure_is_raised_with_its_incident(app: Holdfast) -> None:
    instance = await app.start(fulfil, "7", -1)
    async with asyncio.timeout(20):
        with pytest.raises(InstanceFaulted, match=r"Declined: 7\. Correct") as raised:
            await instance.result()
    assert raised.value.fault_type == "Declined"


async def test_options_stand_apart_from_the_arguments(app: Holdfast) -> None:
    call = fulfil.options(correlation_id="c", name="Seven", idempotency_key="k")
    one = await app.start(call, "7")
    other = await app.start(call, "7")
    assert one.id == other.id
    async with asyncio.timeout(20):
        await one.result()
    read = await app.runtime.read(one.id)
    assert (read.correlation_id, read.name) == ("c", "Seven")


async def test_an_id_that_is_taken_is_told_by_name(app: Holdfast) -> None:
    first = await app.start(fulfil.options(instance_id="order-9"), "9")
    with pytest.raises(AlreadyStarted) as refusal:
        await app.start(fulfil.options(instance_id="order-9"), "9")
    assert refusal.value.instance_id == first.id


async def test_two_applications_in_a_process_are_two_nodes(url: str) -> None:
    """One per tenant, say: with one name between them the first would be taken for dead."""

    def of(tenant: str) -> Holdfast:
        return Holdfast(store=url, tenant=tenant, workflows=[fulfil], entry_points=False)

    async with of("acme") as one, of("globex") as other:
        for app in (one, other):
            assert (await app.runtime.nodes.this()).alive


async def test_a_canceled_one_has_no_result(app: Holdfast) -> None:
    instance = await app.start(approving, "7")
    await instance.cancel()
    async with asyncio.timeout(20):
        with pytest.raises(NoResult, match="canceled"):
            await instance.result()


async def test_who_waits_no_longer_is_told_what_the_instance_waits_for(app: Holdfast) -> None:
    instance = await app.start(approving, "7")
    async with asyncio.timeout(20):
        with pytest.raises(NoResult, match=r"waits at Event .*Approval") as told:
            await instance.result(timeout=timedelta(0))
        await instance.send(Approval(approved=True))
        assert await instance.result(timeout=timedelta(seconds=20)) == "yes"
        assert await instance.result(timeout=timedelta(0)) == "yes"  # It had ended: nothing is to be waited for.
    assert told.value.status == "suspended"


async def test_an_event_to_the_instance(app: Holdfast) -> None:
    instance = await app.start(approving, "7")
    await instance.send(Approval(approved=True))
    async with asyncio.timeout(20):
        assert await instance.result() == "yes"


# -- in the caller's transaction ---------------------------------------------------------------------------------------


async def test_committed_with_the_order(app: Holdfast, database: AsyncEngine) -> None:
    async with AsyncSession(database) as session, session.begin():
        await session.execute(text("insert into orders values ('7')"))
        instance = await app.start_in(session, fulfil, "7", amount=4)
        with pytest.raises(NoResult, match="not committed"):
            await instance.result()
    async with asyncio.timeout(20):
        assert await instance.result() == "7: 4"
    assert await orders(database) == ["7"]


async def test_or_not_at_all(app: Holdfast, database: AsyncEngine) -> None:
    async with AsyncSession(database) as session:
        await session.execute(text("insert into orders values ('8')"))
        instance = await app.start_in(session, fulfil.options(correlation_id="8"), "8")
        await session.rollback()
    with pytest.raises(NoResult, match="not committed"):
        await instance.result()
    assert await orders(database) == []


async def test_a_connection_will_do(app: Holdfast, database: AsyncEngine) -> None:
    async with database.begin() as connection:
        instance = await app.start_in(connection, fulfil, "9")
    async with asyncio.timeout(20):
        assert await instance.result() == "9: 5"


async def test_what_is_not_in_the_store_cannot_wait_for_it(url: str, database: AsyncEngine) -> None:
    empty = Holdfast(store=url, tenant="without-definitions", node="other", entry_points=False)
    async with empty as app, database.begin() as connection:
        with pytest.raises(DefinitionError, match="workflows="):
            await app.start_in(connection, fulfil, "9")


async def test_a_store_in_memory_has_no_tables(database: AsyncEngine) -> None:
    async with (
        Holdfast(store="memory://", workflows=WORKFLOWS, entry_points=False) as app,
        database.begin() as connection,
    ):
        with pytest.raises(HoldfastError, match="same database"):
            await app.start_in(connection, fulfil, "9")


async def test_a_taken_id_is_refused(app: Holdfast, database: AsyncEngine) -> None:
    """While its start is open in this transaction, while the start waits, and after the instance has ended."""
    taken = fulfil.options(instance_id="taken")
    async with AsyncSession(database) as session:
        await app.start_in(session, taken, "1")
        with pytest.raises(AlreadyStarted):
            await app.start_in(session, taken, "2")
        await session.rollback()
    async with AsyncSession(database) as session, session.begin():
        instance = await app.start_in(session, taken, "3")
    async with AsyncSession(database) as session:
        with pytest.raises(AlreadyStarted):
            await app.start_in(session, taken, "4")
    async with asyncio.timeout(20):
        assert await instance.result() == "3: 5"
    async with AsyncSession(database) as session:
        with pytest.raises(AlreadyStarted) as told:
            await app.start_in(session, taken, "5")
    assert told.value.instance_id == "taken"


@pytest.mark.parametrize("other", ["start", "start_in"])
async def test_an_id_that_another_start_took_before_the_commit(
    app: Holdfast, database: AsyncEngine, other: str
) -> None:
    """The handle never gives the result of the other instance: not before its own commit, nor after the worker's refusal."""
    name = f"raced-{other}"
    is_taken = handles._is_taken

    async def lose(runtime: Any, instance_id: str) -> bool:
        """The other start begins and ends after the check of this one."""
        taken = await is_taken(runtime, instance_id)
        patch.undo()
        winner = fulfil.options(instance_id=name)
        if other == "start":
            won = await app.start(winner, "1")
        else:
            async with AsyncSession(database) as session, session.begin():
                won = await app.start_in(session, winner, "1")
        async with asyncio.timeout(20):
            assert await won.result() == "1: 5"
        return taken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handles, "_is_taken", lose)
        async with AsyncSession(database) as session, session.begin():
            lost = await app.start_in(session, approving.options(instance_id=name), "2")
            with pytest.raises(AlreadyStarted):
                await lost.result()
    async with asyncio.timeout(20):
        while await app.runtime.start_row(name) is not None:
            continue
        for call in (lost.result, lost.status, lost.cancel, lambda: lost.send(Approval(approved=True))):
            with pytest.raises(AlreadyStarted) as told:
                await call()
            assert told.value.instance_id == name
        assert await app.handle(fulfil, name).result() == "1: 5"


async def test_a_given_id_gives_its_result(app: Holdfast, database: AsyncEngine) -> None:
    async with AsyncSession(database) as session, session.begin():
        mine = await app.start_in(session, fulfil.options(instance_id="given"), "1")
    async with asyncio.timeout(20):
        assert await mine.result() == "1: 5"
        assert await mine.status() is Status.FINISHED


async def test_before_any_node_has_taken_the_start(url: str, database: AsyncEngine) -> None:
    """An event is kept, the status is pending, a cancel comes before the first activity, a result waits."""

    def asking(node: str, **more: Any) -> Holdfast:
        return Holdfast(store=url, tenant="early", node=node, workflows=WORKFLOWS, entry_points=False, **more)

    async with asking("asks", worker=False) as app:
        async with AsyncSession(database) as session, session.begin():
            started = await app.start_in(session, approving.options(instance_id="early-1"), "1")
            await app.start_in(session, fulfil.options(instance_id="early-2"), "2", amount=-1)
        async with asyncio.timeout(20):
            await started.send(Approval(approved=True))
            assert await app.handle(approving, "early-1").status() is Status.PENDING
            with pytest.raises(NoResult):
                await app.handle(approving, "early-1").result(timeout=timedelta(milliseconds=1))
            canceled = app.handle(fulfil, "early-2")
            await canceled.cancel()
            assert await canceled.status() is Status.CANCELED
            with pytest.raises(NoResult, match="canceled"):
                await canceled.result()
            with pytest.raises(InstanceNotFound):
                await app.handle(approving, "unknown").send(Approval(approved=True))
        result = asyncio.create_task(app.handle(approving, "early-1").result())
        async with asyncio.timeout(20), asking("works"):
            assert await result == "yes"


@workflow
async def keyed(order: str) -> str:
    answer = await wait_for(Approval, key=order)
    return "yes" if answer.approved else "no"


async def test_an_event_to_a_key(app: Holdfast) -> None:
    instance = await app.start(keyed, "k-7")
    other = await app.start(keyed, "k-8")
    await app.send(Approval(approved=True), key="k-7")
    async with asyncio.timeout(20):
        assert await instance.result() == "yes"
    assert await other.status() is Status.SUSPENDED
    await other.cancel()


async def test_a_child_comes_with_the_workflow_that_starts_it(app: Holdfast) -> None:
    order = await app.start(delegating, "child")

    assert await order.result() == "child: 7"


async def test_a_result_is_not_the_fault_that_a_committed_request_retries(cluster: Any) -> None:
    """A dead letter that a process without a worker replayed, or a dispatched request: until a worker took it, `result`
    raised the old fault."""
    fails = [True]

    @activity(name="fails_once")
    async def fails_once() -> str:
        if fails:
            fails.clear()
            raise Declined("at first")
        return "well"

    node = await cluster.node("a")
    root = Workflow(fails_once.bind(id="once", result="said"), variables={"said": ""}, id="faulty")
    identity = (await node.start(root)).result.instance_id
    handle: handles.Handle[Any] = handles.Handle(node, identity, returns=False)
    with pytest.raises(InstanceFaulted):
        await handle.result()
    row, request = await node.row(identity), DispatchInstance(instance_id=identity)
    queue = queue_of(cluster.tenant)
    work = work_rows.run(cluster.tenant, f"{identity}.r1", request, row.content, await node.store.now(), queue=queue)
    await node.store.enqueue([work])

    waiting = asyncio.ensure_future(handle.result())
    while not node.waits._waiters and not waiting.done():  # noqa: ASYNC110 - no event tells of a waiter
        await asyncio.sleep(0)
    node_of(node).take_work()

    async with asyncio.timeout(30):
        assert await waiting == {}
    assert (await node.read(identity)).variables == {"said": "well"}


async def test_a_session_on_another_database_is_refused(app: Holdfast, url: str, tmp_path: Path) -> None:
    """A raw error of SQLAlchemy told of a missing table."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'other.db'}")
    async with engine.connect() as connection:
        with pytest.raises(StoreMisconfigured, match="The session of start_in is not on the database of the store"):
            await app.start_in(connection, fulfil, "9")
    await engine.dispose()


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "The input 'order' is required"),
        (("7",), {"orders": 3}, "'fulfil' has no input 'orders'"),
        (("7", 3, 4), {}, "too many positional arguments.*fulfil\\(order, amount\\)"),
        (("7",), {"order": "8"}, "multiple values for argument 'order'"),
    ],
)
async def test_wrong_arguments_of_a_start_are_named(
    app: Holdfast, arguments: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    """A start with missing arguments was a bare TypeError."""
    with pytest.raises(InvalidInput, match=message):
        await app.start(fulfil, *arguments, **named)


# -- the store of the settings -----------------------------------------------------------------------------------------


async def test_an_application_without_a_store_argument_uses_the_environment(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_STORE", store_url)

    async with asyncio.timeout(30), Holdfast(workflows=[fulfil], entry_points=False) as app:
        assert await (await app.start(fulfil, "A-1")).result() == "A-1: 5"


async def test_an_application_without_a_store_argument_uses_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.toml").write_text('store = "sqlite:///named.db"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    async with Holdfast(workflows=[fulfil], entry_points=False):
        pass

    assert (tmp_path / "named.db").is_file()


async def test_the_store_argument_overrules_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STORE", f"sqlite:///{tmp_path / 'other.db'}")

    async with Holdfast(store="memory://", workflows=[fulfil], entry_points=False):
        pass

    assert not (tmp_path / "other.db").exists()


async def test_an_application_has_no_store_unless_a_source_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOLDFAST_STORE", raising=False)

    async with Holdfast(workflows=[fulfil], entry_points=False) as app:
        with pytest.raises(HoldfastError, match="HOLDFAST_STORE"):
            await app.start(fulfil, "A-1")

    assert not list(tmp_path.iterdir())
