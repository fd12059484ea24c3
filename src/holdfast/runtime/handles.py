"""Handles of instances, for the code that starts them: `handle = await app.start(fulfil, order_id)`, `await handle.result()`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import timedelta
from inspect import isawaitable, signature
from typing import Any, Generic, ParamSpec, TypeVar, cast

from holdfast.authoring.compiled import WorkflowFunction
from holdfast.authoring.start_options import Call, StartOptions
from holdfast.authoring.workflow import Workflow
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
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark, Status
from holdfast.model.problem import Problem
from holdfast.model.requests import Receipt
from holdfast.model.work import WorkRow
from holdfast.ports import WorkTables
from holdfast.runtime.commits import work_rows
from holdfast.runtime.dispatchers.event_names import named_event
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult

P = ParamSpec("P")
R = TypeVar("R")

NO_TABLE = re.compile(r"no such table|\b1146\b|doesn't exist")
"""Text of errors for a missing table that SQLAlchemy raises as `OperationalError`."""
Startable = WorkflowFunction[P, R] | Call[P, R]


class Handle(Generic[R]):
    """One instance: its id and a runtime. `app.handle(workflow, id)` makes another handle of the same instance."""

    def __init__(
        self,
        runtime: Runtime,
        instance_id: str,
        *,
        returns: bool = True,
        work_id: str | None = None,
        token: str | None = None,
    ) -> None:
        self._runtime = runtime
        self._returns = returns
        self._work_id = work_id
        """The work row that starts it, if the row was written in a transaction of the application."""
        self._token = token
        """Identifies that start until it is known that the instance comes from it: another start may take the id first."""
        self.id = instance_id

    async def result(self, *, timeout: timedelta | None = None) -> R:
        """Wait until the instance has ended, on any node; returns the result of the workflow (of a workflow of objects: its
        outputs).

        Raises `InstanceFaulted` if the instance failed, and `NoResult` if it was canceled, if its start was not committed, or at
        the timeout. After a timeout the instance continues; call `result` again to wait longer. Raises `AlreadyStarted` if this
        start lost its id to another one, like the other methods.
        """
        if timeout is not None and not isinstance(timeout, timedelta):
            raise HoldfastError(
                f"The timeout must be a timedelta, not {timeout!r}: result(timeout=timedelta(seconds=1))."
            )
        ended = await self._ended(timeout)
        if ended.status is Status.FINISHED:
            return cast("R", ended.outputs.get("result") if self._returns else ended.outputs)
        if ended.status is Status.FAULTED:
            raise _fault(ended)
        raise NoResult(self.id, ended.status, f"it was {ended.status}.")

    async def _ended(self, limit: timedelta | None) -> RunResult:
        try:
            async with asyncio.timeout(None if limit is None else limit.total_seconds()) as waiting:
                await self._wait_stored()
                return await self._at_rest()
        except TimeoutError:
            if not waiting.expired():
                raise
        found = await self._runtime.find(self.id)
        if found is not None and found.status.at_rest:
            return found
        raise _unfinished(self.id, found)

    async def _at_rest(self) -> RunResult:
        """The instance at its end. A fault is not the end while a committed request to run the instance again waits."""
        while True:
            ended = await self._first_end()
            if ended.status is not Status.FAULTED:
                return ended
            row, ended = await self._runtime.read_with_row(self.id)
            if ended.status is Status.FAULTED and not await self._runtime.wait_rerun(self.id, row.version):
                return ended

    async def _first_end(self) -> RunResult:
        try:
            return await self._runtime.wait_at_rest(self.id)
        except InstanceNotFound:
            if self._work_id is not None or (row := await self._runtime.start_row(self.id)) is None:
                raise
        self._work_id = row.id  # A start in a transaction of the application, which no node has taken yet.
        await self._wait_stored()
        return await self._runtime.wait_at_rest(self.id)

    async def status(self) -> Status:
        """The status of the instance; `pending` until a node has begun it."""
        await self._check_token()
        try:
            return (await self._runtime.read(self.id)).status
        except InstanceNotFound:
            if await self._start_row() is not None:
                return Status.PENDING
            raise

    async def cancel(self, *, terminate: bool = False) -> None:
        """Cancel the instance. `finally` parts and compensations run first, unless `terminate` is set. An instance that no node
        has started yet is canceled before its first activity."""
        if not await self._is_stored() and (row := await self._start_row()) is not None:
            if await self._runtime.cancel_start(row, terminate=terminate):
                return
            self._work_id = row.id
        await self._wait_stored()
        await self._runtime.cancel(self.id, terminate=terminate)

    async def send(self, event: Any, payload: Any = None, *, idempotency_key: str | None = None) -> Receipt:
        """Send an event to the instance: an object of the event's class, or a name with a payload. The event is kept until the
        instance waits for it. Events with the same idempotency key are one event."""
        if self._work_id is not None and not await self._is_stored() and not await self._is_waiting():
            await self._wait_stored()
        name, brought = named_event(event, payload)
        return await self._runtime.stimuli.event(name, brought, instance_id=self.id, idempotency_key=idempotency_key)

    async def _wait_stored(self) -> None:
        """Wait until the instance is stored. Raises `NoResult` if the transaction is still open, or was rolled back."""
        if self._work_id is None:
            return
        with self._runtime.waits.of(self._runtime.key(self.id)) as waiter:
            while not await self._is_stored():
                if not await self._is_waiting() and not await self._is_stored():
                    raise NoResult(
                        self.id,
                        "pending",
                        "the transaction that starts it is not committed. Commit it first. After a rollback there is no "
                        "instance.",
                    )
                await waiter.changed(0)
        self._work_id = None

    async def _is_stored(self) -> bool:
        try:
            await self._runtime.row(self.id)
        except InstanceNotFound:
            return False
        if self._token is not None:
            # The commit that starts an instance inserts the guard: the instance is read first.
            guard = work_rows.start_guard(self._token)
            if await self._runtime.store.find_guard(self._runtime.tenant, guard.ref) is None:
                raise AlreadyStarted(self.id)
            self._token = None
        return True

    async def _check_token(self) -> None:
        """Raise `AlreadyStarted` if the instance comes from another start."""
        if self._token is not None:
            await self._is_stored()

    async def _is_waiting(self) -> bool:
        return await self._start_row() is not None

    async def _start_row(self) -> WorkRow | None:
        """The committed start of the instance that no node has taken yet."""
        row = await self._runtime.start_row(self.id)
        if row is not None and self._token is not None and work_rows.read_start(row).token != self._token:
            raise AlreadyStarted(self.id)
        return row

    def __repr__(self) -> str:
        return f"<instance {self.id}>"


def _fault(ended: RunResult) -> InstanceFaulted:
    first = ended.incidents[0]
    return InstanceFaulted(ended.instance_id, fault_type=first.type, message=first.message, incident_id=first.id)


def _unfinished(instance_id: str, found: RunResult | None) -> NoResult:
    if found is None:
        return NoResult(instance_id, Status.PENDING, "no node has begun it. Start a worker: holdfast worker.")
    places = "; ".join(map(_place, found.bookmarks))
    if not places:
        return NoResult(instance_id, found.status, f"it is {found.status}. Wait longer, or call result() again.")
    return NoResult(instance_id, found.status, f"it waits at {places}. Send the awaited event, or wait longer.")


def _place(bookmark: Bookmark) -> str:
    if bookmark.due is not None:
        return f"{bookmark.name} ({bookmark.activity_id}), due {bookmark.due.isoformat(timespec='seconds')}"
    return f"{bookmark.name} ({bookmark.activity_id})" + (f" for {bookmark.payload}" if bookmark.payload else "")


# -- starting ----------------------------------------------------------------------------------------------------------


async def start(runtime: Runtime, workflow: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Handle[Any]:
    """Start an instance on this node; it is committed when this returns."""
    target, options = _workflow_and_options(workflow)
    answer = await runtime.start(
        target,
        _inputs(target, args, kwargs),
        instance_id=options.instance_id,
        correlation_id=options.correlation_id,
        name=options.name,
        idempotency=options.idempotency_key,
    )
    found = answer.existing if answer.result is None else answer.result.instance_id
    assert found is not None
    if answer.result is None and options.idempotency_key is None:
        raise AlreadyStarted(found)
    return Handle(runtime, found, returns=isinstance(target, WorkflowFunction))


def _workflow_and_options(workflow: Any) -> tuple[Workflow, StartOptions]:
    if isinstance(workflow, Call):
        return workflow.workflow, workflow.options
    if isinstance(workflow, Workflow):
        return workflow, StartOptions()
    raise DefinitionError(f"{workflow!r} is not a workflow. Decorate the function with @workflow.")


def _inputs(workflow: Workflow, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs by name. Missing and unknown inputs are left to the check of the inputs, which names all of them."""
    if isinstance(workflow, WorkflowFunction):
        known = signature(workflow.function)
        unknown = {name: value for name, value in kwargs.items() if name not in known.parameters}
        named = {name: value for name, value in kwargs.items() if name in known.parameters}
        try:
            return {**known.bind_partial(*args, **named).arguments, **unknown}
        except TypeError as error:  # Too many arguments, or two for one parameter.
            raise _wrong_arguments(workflow, str(error)) from error
    if args:
        raise DefinitionError("A workflow of objects takes its inputs by name: app.start(order, amount=20).")
    return dict(kwargs)


def _wrong_arguments(workflow: WorkflowFunction[..., Any], reason: str) -> InvalidInput:
    name = workflow.definition.id
    problem = Problem(
        path="",
        code="wrong-arguments",
        message=f"'{name}' cannot be started with these arguments: {reason}.",
        remedy=f"Give the arguments of {name}({', '.join(signature(workflow.function).parameters)}).",
    )
    return InvalidInput([problem], name=name)


# -- in a transaction of the caller ------------------------------------------------------------------------------------


async def start_in(
    runtime: Runtime, session: Any, workflow: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Handle[Any]:
    """Write the start into a transaction of the caller: the instance starts if the transaction is committed."""
    target, options = _workflow_and_options(workflow)
    if options.idempotency_key is not None:
        raise DefinitionError("In your own transaction a start needs no idempotency key: give an instance_id instead.")
    plan = runtime.plan_of(target)
    content = await runtime.plans.stored(plan)
    if content is None:
        raise DefinitionError(
            f"'{plan.definition.id}' is not in the store yet, and your transaction cannot wait for that. "
            "Give it to Holdfast(workflows=[…])."
        )
    inputs = check_inputs(plan.definition, _inputs(target, args, kwargs), plan.types)
    tables = work_tables(runtime)
    if (given := options.instance_id) is not None and await _is_taken(runtime, given):
        raise AlreadyStarted(given)
    token = None if given is None else runtime.new_id()
    row = work_rows.application_start(
        runtime.tenant,
        given or runtime.new_id(),
        plan.definition.id,
        inputs,
        types=plan.types,
        content=content,
        correlation_id=options.correlation_id,
        name=options.name,
        now=runtime.clock.now(),
        token=token,
    )
    assert row.instance_id is not None
    for statement, values in tables.work_statements(row):
        await _execute(session, statement, values, row.instance_id)
    returns = isinstance(target, WorkflowFunction)
    return Handle(runtime, row.instance_id, returns=returns, work_id=row.id, token=token)


async def _is_taken(runtime: Runtime, instance_id: str) -> bool:
    """Whether the id belongs to an instance, or to a committed start."""
    return await runtime.find(instance_id) is not None or await runtime.start_row(instance_id) is not None


async def _execute(session: Any, statement: str, values: Mapping[str, Any], instance_id: str) -> None:
    """Execute a statement on a SQLAlchemy session or connection, with or without asyncio. Raises `AlreadyStarted` if another
    start of the id is in this transaction, or was committed meanwhile, and `StoreMisconfigured` if the session is not on the
    database of the store."""
    from sqlalchemy import text
    from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError

    try:
        done = session.execute(text(statement), values)
        if isawaitable(done):
            await done
    except IntegrityError as error:
        raise AlreadyStarted(instance_id) from error
    except (OperationalError, ProgrammingError) as error:
        if isinstance(error, OperationalError) and not NO_TABLE.search(str(error.orig)):
            raise  # The connection failed, or a deadlock: the caller's transaction handles it.
        raise StoreMisconfigured(
            f"The session of start_in is not on the database of the store: {error.orig}. Use a session or connection on the same "
            "database and schema as Holdfast(store=…), or start the instance after your commit: app.start(…)."
        ) from error


def work_tables(runtime: Runtime) -> WorkTables:
    store = runtime.store
    if not isinstance(store, WorkTables):
        raise HoldfastError(
            "A start in your own transaction needs the tables of Holdfast in the same database: "
            "a store on PostgreSQL, MySQL or SQLite."
        )
    return store
