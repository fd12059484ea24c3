"""The runner: executes workflows at once in this process, without a store, with the same segments and effects as the runtime."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from holdfast import telemetry
from holdfast.errors import BookmarkNotFound, DefinitionError, WorkflowUnknown
from holdfast.execution import delivery, operator_actions, snapshot, suspension
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Limits
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.ports import Clock, DefinitionSource, MiddlewarePlacement, Services
from holdfast.runtime.effects.executor import around_effects
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.inline.driver import Driver
from holdfast.runtime.observability.status_events import names_of
from holdfast.runtime.result import RunResult

YIELD_NS = 1_000_000
"""The runner shares the event loop of the application: it yields every millisecond (rule M12)."""


class Running:
    """A running instance: wait for its result, or cancel it."""

    def __init__(self, driver: Driver, task: asyncio.Task[RunResult]) -> None:
        self._driver = driver
        self._task = task

    @property
    def instance_id(self) -> str:
        return self._driver.live.id

    def cancel(self, *, terminate: bool = False) -> None:
        """Cancel the instance. `finally` parts and compensations run first, unless `terminate` is set."""
        if not self._task.done():
            self._driver.cancel("canceled", finalize=not terminate)

    async def result(self) -> RunResult:
        return await asyncio.shield(self._task)


class Runner:
    """Executes workflows at once in this process; `Holdfast().runner` is one."""

    def __init__(
        self,
        *,
        plan_of: Callable[[Any], Plan],
        services: Services,
        clock: Clock,
        limits: Limits,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...] = (),
        cancel_grace: timedelta = timedelta(seconds=10),
        definitions: DefinitionSource | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        self._plan_of = plan_of
        self._services = services
        self._definitions = definitions
        self.clock = clock
        self.limits = Limits(
            activities=limits.activities, nanoseconds=min(limits.nanoseconds, YIELD_NS), runaway=limits.runaway
        )
        self.pools = pools
        self.around_effects = around_effects(middleware)
        self.cancel_grace = cancel_grace
        self.tenant = tenant
        """The tenant in events of this runner."""

    # -- start ---------------------------------------------------------------------------------------------------------

    async def run(self, workflow: Any, inputs: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
        """Start an instance and run it until it ends or waits; see `start` for the options."""
        live = await suspension.run(self._new, workflow, inputs, options)
        return await self._driver(live, options).drive()

    def start(
        self,
        workflow: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        wait: bool = False,
        on_line: Callable[[str], None] | None = None,
        instance_id: str | None = None,
        correlation_id: str | None = None,
        name: str | None = None,
        trigger: str | None = None,
        trigger_payload: Any = None,
        flowchart_mode: str | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> Running:
        """Start an instance and return at once.

        `wait` waits out delays and back-offs in process; otherwise they are bookmarks with a due time. `trigger` is the id
        of the activity at which a stimulus started it. `on_line` gets each line of WriteLine after its commit.
        """
        options = {
            "wait": wait,
            "on_line": on_line,
            "instance_id": instance_id,
            "correlation_id": correlation_id,
            "name": name,
            "trigger": trigger,
            "trigger_payload": trigger_payload,
            "flowchart_mode": flowchart_mode,
            "properties": properties,
        }
        driver = self._driver(self._new(workflow, inputs, options), options)
        return Running(driver, asyncio.get_running_loop().create_task(driver.drive()))

    def _new(self, workflow: Any, inputs: Mapping[str, Any] | None, options: Mapping[str, Any]) -> LiveInstance:
        plan = self._plan_of(workflow)
        given = {key: options[key] for key in _START_OPTIONS if options.get(key) is not None}
        live = delivery.start(
            plan,
            id=options.get("instance_id") or secrets.token_hex(8),
            now=self.clock.now_ns,
            services=self._services,
            inputs=check_inputs(plan.definition, inputs or {}, plan.types),
            **given,
        )
        if telemetry.listeners:
            telemetry.emit(
                "instance.started",
                **names_of(self.tenant, live),
                definition_version=live.definition_version,
            )
        return live

    def _driver(self, live: LiveInstance, options: Mapping[str, Any], **more: Any) -> Driver:
        unknown = set(options) - _ALL_OPTIONS
        if unknown:
            raise TypeError(f"Unknown option {', '.join(sorted(unknown))}; known: {', '.join(sorted(_ALL_OPTIONS))}.")
        return Driver(self, live, wait=bool(options.get("wait")), on_line=options.get("on_line"), **more)

    def child(self, start: ChildStart, parent: LiveInstance, *, on_line: Callable[[str], None], wait: bool) -> Driver:
        """The driver of a child instance."""
        definition = self._definitions.find(start.reference) if self._definitions is not None else None
        if definition is None:
            raise WorkflowUnknown(
                f"There is no workflow '{start.reference}' to execute. Give it to Holdfast(definitions=[…]), "
                "or with `holdfast run --with FILE`."
            )
        plan = self._plan_of(definition)
        live = delivery.start(
            plan,
            id=start.instance_id,
            now=self.clock.now_ns,
            services=self._services,
            inputs=check_inputs(definition, start.input, plan.types),
            correlation_id=start.correlation_id,
            parent_id=parent.id,
            principal=parent.principal,
            trace=parent.trace,
        )
        return Driver(self, live, wait=wait, on_line=on_line)

    # -- resume, cancel, retry -----------------------------------------------------------------------------------------

    async def resume(
        self,
        result: RunResult,
        bookmark: Bookmark | str | None = None,
        payload: Any = None,
        *,
        wait: bool = False,
        on_line: Callable[[str], None] | None = None,
    ) -> RunResult:
        """Resume a bookmark (the only one, if none is named) and run. The given result is not changed."""
        driver = self._driver_of(result, wait=wait, on_line=on_line)
        key = self._bookmark_id(result, bookmark)
        child_id, _, inner = key.rpartition("/")
        if child_id:
            await self._resume_child(driver, child_id, inner, payload)
        else:
            await driver.deliver(delivery.resume, driver.live, key, payload)
        if telemetry.listeners:
            telemetry.emit(
                "instance.resumed",
                **names_of(self.tenant, driver.live),
                bookmark_id=key,
            )
        return await driver.drive()

    async def _resume_child(self, driver: Driver, child_id: str, bookmark_id: str, payload: Any) -> None:
        """Resume a bookmark of a child, or of a child of a child."""
        for waiting, child in driver.children.items():
            if child_id == child.instance_id or child_id.startswith(f"{child.instance_id}/"):
                rest = child_id.removeprefix(child.instance_id).removeprefix("/")
                inner = f"{rest}/{bookmark_id}" if rest else bookmark_id
                before = len(child.lines)
                moved = await self.resume(child, inner, payload, wait=driver.wait)
                for line in moved.lines[before:]:
                    driver._child_line(line)
                await driver.child_ended(waiting, moved)
                return
        raise BookmarkNotFound(f"{child_id}/{bookmark_id}", instance_id=driver.live.id)

    async def wait_out(self, result: RunResult, *, on_line: Callable[[str], None] | None = None) -> RunResult:
        """Wait until the bookmarks are due and run, as with `wait`; no bookmark is resumed early."""
        return await self._driver_of(result, wait=True, on_line=on_line).drive()

    async def cancel(self, result: RunResult, *, terminate: bool = False) -> RunResult:
        """Cancel the instance. `finally` parts and compensations run first, unless `terminate` is set."""
        driver = self._driver_of(result)
        delivery.refuse_cancel(driver.live)
        driver.cancel("canceled", finalize=not terminate)
        return await driver.drive()

    async def retry(self, result: RunResult, *, wait: bool = False) -> RunResult:
        """Run the failed activities of a faulted instance again."""
        driver = self._driver_of(result, wait=wait)
        await driver.deliver(delivery.retry, driver.live)
        return await driver.drive()

    async def schedule(self, result: RunResult, activity_id: str, *, wait: bool = False) -> RunResult:
        """Run an activity of an active flowchart, to move an instance that is stuck."""
        driver = self._driver_of(result, wait=wait)
        await driver.deliver(operator_actions.schedule, driver.live, activity_id)
        return await driver.drive()

    # -- states --------------------------------------------------------------------------------------------------------

    def load(self, state: Mapping[str, Any], workflow: Any) -> RunResult:
        """An exported state as a result to continue from. `workflow` must have the content that the instance started with."""
        live = snapshot.load(state, self._plan_of(workflow), self.clock.now_ns, self._services)
        return RunResult(live, [], {key: self._load_child(item) for key, item in state.get("children", {}).items()})

    def _load_child(self, item: Mapping[str, Any]) -> RunResult:
        definition = self._definitions.find(item["definition"]) if self._definitions is not None else None
        if definition is None:
            raise DefinitionError(
                f"The instance waits for the workflow '{item['definition']}', which this process does not have. "
                "Give it to Holdfast(definitions=[…]), or with `--with FILE`."
            )
        return self.load(item["state"], definition)

    def _driver_of(
        self, result: RunResult, *, wait: bool = False, on_line: Callable[[str], None] | None = None
    ) -> Driver:
        """A driver of a copy of the instance, made from its state: the given result is not changed."""
        state = snapshot.dump(result._live, journal=False)
        live = snapshot.load(state, result._live.plan, self.clock.now_ns, self._services)
        # Entries are immutable tuples: a long journal need not be encoded and decoded with every resume.
        live.journal = list(result._live.journal)
        live.committed_entries = len(live.journal)
        return Driver(self, live, wait=wait, on_line=on_line, children=result.children, lines=result.lines)

    @staticmethod
    def _bookmark_id(result: RunResult, bookmark: Bookmark | str | None) -> str:
        if isinstance(bookmark, Bookmark):
            return bookmark.id
        if bookmark is not None:
            return bookmark
        waiting = result.bookmarks
        if len(waiting) != 1:
            listed = [f"{item.id} ({item.activity_id})" for item in waiting]
            raise BookmarkNotFound("(none named)", instance_id=result.instance_id, open_ids=listed)
        return waiting[0].id


_START_OPTIONS = ("correlation_id", "name", "trigger", "trigger_payload", "flowchart_mode", "properties")
_ALL_OPTIONS = frozenset({"wait", "on_line", "instance_id", *_START_OPTIONS})
