"""The collaborators of a runtime. The node makes them; only the facade holds them all."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from msgspec import Struct

from holdfast.ports import Clock, CronCalendar, Services, Store
from holdfast.runtime.commits.console_lines import ConsoleLines
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.effects.reaper import Reaper
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.steps.worker import StepWorker
from holdfast.runtime.stimuli.inbox_expiry import InboxExpiry
from holdfast.runtime.stimuli.matching import BookmarkMatcher
from holdfast.runtime.stimuli.router import StimulusRouter
from holdfast.runtime.waits import InstanceWaits
from holdfast.runtime.work_queue.poller import Poller
from holdfast.runtime.work_queue.scheduler import Scheduler


class Lifecycle(Protocol):
    """The life of the node behind a runtime."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    def take_work(self) -> None: ...
    async def drain(self, limit: timedelta) -> bool: ...


class RuntimeParts(Struct, frozen=True, kw_only=True):
    """The collaborators that a runtime delegates to. The node makes them."""

    life: Lifecycle
    store: Store
    clock: Clock
    services: Services
    calendar: CronCalendar
    membership: Membership
    liveness: Liveness
    intake: Intake
    log: OutageLog
    plans: Plans
    cache: InstanceCache
    reader: InstanceReader
    lanes: Lanes
    in_hand: InstancesInHand
    waits: InstanceWaits
    lines: ConsoleLines
    matcher: BookmarkMatcher
    router: StimulusRouter
    expiry: InboxExpiry
    poller: Poller
    scheduler: Scheduler
    reaper: Reaper
    steps: StepWorker
