"""Builds the components of a node and connects them, bottom up: commits, effects, stimuli, work queue, steps."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.errors import ExecutionError
from holdfast.model.cron import CRON
from holdfast.model.work import WorkKind
from holdfast.ports import CronCalendar, Services
from holdfast.runtime.cluster.options import NodeEnvironment, NodeOptions
from holdfast.runtime.commits.batch_executor import BatchExecutor
from holdfast.runtime.commits.burst import BurstRunner
from holdfast.runtime.commits.burst_pace import BurstPace
from holdfast.runtime.commits.commit_builder import CommitBuilder
from holdfast.runtime.commits.commit_hooks import CommitHooks
from holdfast.runtime.commits.conflicts import Conflicts
from holdfast.runtime.commits.console_lines import ConsoleLines
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.lifecycle_events import LifecycleEvents
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.commits.suspended_bursts import SuspendedBursts
from holdfast.runtime.effects.launcher import EffectLauncher
from holdfast.runtime.effects.poison import PoisonEffects
from holdfast.runtime.effects.reaper import Reaper
from holdfast.runtime.effects.running_effects import RunningEffects
from holdfast.runtime.effects.takeover_receipts import TakeoverReceipts
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.queue_watch import QueueWatch
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps.queue_share import shares_of
from holdfast.runtime.steps.sender import StepSender
from holdfast.runtime.steps.worker import StepWorker
from holdfast.runtime.stimuli.counted_mail import CountedMail
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.delivery import StimulusDelivery
from holdfast.runtime.stimuli.inbox import Inbox
from holdfast.runtime.stimuli.inbox_expiry import InboxExpiry
from holdfast.runtime.stimuli.mail_drain import MailDrain
from holdfast.runtime.stimuli.matching import BookmarkMatcher
from holdfast.runtime.stimuli.router import StimulusRouter
from holdfast.runtime.stimuli.trigger_starts import TriggerStarts
from holdfast.runtime.stimuli.unread import UnreadStimuli
from holdfast.runtime.waits import InstanceWaits
from holdfast.runtime.work_queue.alteration_pages import AlterationPages
from holdfast.runtime.work_queue.child_starts import ChildStarts
from holdfast.runtime.work_queue.claim_runner import ClaimRunner
from holdfast.runtime.work_queue.poller import Poller
from holdfast.runtime.work_queue.quarantine import Quarantine
from holdfast.runtime.work_queue.scheduler import Scheduler


class Components:
    """The components of one node. Only the node and the facade hold them."""

    def __init__(self, env: NodeEnvironment, options: NodeOptions) -> None:
        self.store, self.clock, self.services = env.store, env.clock, env.services
        self.membership = Membership(options.name)
        self.liveness = Liveness(options.time_to_live, options.beat_every)
        self.intake = Intake()
        self.log = OutageLog(options.name)
        self.calendar = _calendar(env.services)
        self.plans = Plans(env.store, env.plan_of, env.clock.now, env.definitions, env.workshop)
        self.watch = QueueWatch(env.store, env.clock, self.plans.lacking)
        self.placement = replace(env.placement, served=frozenset(options.queues))
        self._wire_commits(env, options)
        self._wire_effects(env, options)
        self._wire_stimuli(options)
        self._wire_work_queue(options)
        self._wire_steps(env, options)
        self._connect()

    def _wire_commits(self, env: NodeEnvironment, options: NodeOptions) -> None:
        self.cache = InstanceCache(self.store)
        self.reader = InstanceReader(self.cache, self.plans, self.clock, self.services)
        self.waits = InstanceWaits(self.store, self.reader, self.log)
        self.in_hand = InstancesInHand()
        self.pace = BurstPace()
        self.lines = ConsoleLines()
        self.spent = SpentRows(self.store, self.membership, self.log)
        self.letters = DeadLetters(self.store, self.membership)
        self.conflicts = Conflicts(self.cache, self.in_hand, self.spent)
        runner = BurstRunner(
            CommitBuilder(self.membership, self.placement, self.plans),
            self.membership,
            self.clock,
            self.services,
            env.limits,
            add_events=LifecycleEvents(env.outlets) if env.outlets else None,
            snapshots=options.snapshots,
        )
        self.suspended = SuspendedBursts(self.in_hand)
        self.executor = BatchExecutor(
            self.store,
            self.cache,
            self.plans,
            runner,
            self.in_hand.watch,
            self.lines,
            self.conflicts,
            self.pace,
            self.log,
            self.suspended,
        )
        self.lanes = Lanes(self.executor.execute, self.in_hand, self.pace, options.lanes)

    def _wire_effects(self, env: NodeEnvironment, options: NodeOptions) -> None:
        self.running = RunningEffects(
            env.pools,
            env.middleware,
            options.cancel_grace,
            self.placement,
            self.membership,
            self.liveness,
            self.lanes,
            self.in_hand,
        )
        receipts = TakeoverReceipts(self.store, self.reader, self.lanes)
        poison = PoisonEffects(self.store, self.reader, receipts, self.lanes)
        self.launcher = EffectLauncher(self.cache, self.reader, self.running, poison.bury_if_poison)
        self.reaper = Reaper(
            self.store,
            options.tenants,
            options.stored_queues,
            self.membership,
            self.liveness,
            self.intake,
            self.reader,
            self.lanes,
            self.in_hand,
            self.running,
            self.launcher,
            receipts,
            poison,
            self.plans.obstacles,
            self.log,
        )

    def _wire_stimuli(self, options: NodeOptions) -> None:
        counts, declinations = StimulusCounts(), Declinations()
        self.stimulus_counts = counts
        self.matcher = BookmarkMatcher(self.store, self.cache)
        self.expiry = InboxExpiry(self.store, self.clock)
        self.unread = UnreadStimuli(self.store, self.cache, self.clock, self.lanes, self.spent)
        delivery = StimulusDelivery(self.store, self.lanes, self.cache, self.matcher, declinations, counts)
        drain = MailDrain(
            self.store,
            self.lanes,
            self.cache,
            self.in_hand,
            declinations,
            counts,
            self.plans.obstacles,
            self.intake,
        )
        self.counted_mail = CountedMail(self.store, self.clock, options.stored_queues, drain, self.letters, self.spent)
        self.inbox = Inbox(
            self.store,
            self.clock,
            options.tenants,
            drain,
            self.counted_mail,
            self.intake,
            self.expiry,
            self.letters,
            self.spent,
            declinations,
            counts,
            self.log,
        )
        self.router = StimulusRouter(
            self.store,
            self.membership,
            self.clock,
            self.plans,
            self.matcher,
            delivery,
            self.inbox,
            TriggerStarts(self.store, self.plans, self.lanes, counts),
            counts,
            self.log,
        )

    def _wire_work_queue(self, options: NodeOptions) -> None:
        self.alterations = AlterationPages(
            self.store, self.clock, self.membership, self.plans, self.lanes, self.spent, self.services
        )
        self.poller = Poller(
            self.store,
            self.watch.of(options.stored_queues),
            self.intake,
            self.plans,
            self.lanes,
            self.in_hand,
            ClaimRunner(self.executor, self.lanes, self.in_hand, self.pace),
            ChildStarts(self.store, self.plans),
            self.letters,
            self.spent,
            self.log,
            {
                WorkKind.STIMULUS: self.router.route,
                WorkKind.MAIL: self.inbox.ring,
                WorkKind.UNREAD: self.unread.check,
                WorkKind.ALTERATION: self.alterations.execute,
            },
            does_own=options.does_own,
        )
        self.quarantine = Quarantine(
            self.store, self.poller, self.plans, self.lanes, self.letters, self.counted_mail, self.liveness
        )
        self.scheduler = Scheduler(
            self.store,
            options.tenants,
            self.membership,
            self.intake,
            self.plans,
            self.lanes,
            self.calendar,
            self.log,
        )

    def _wire_steps(self, env: NodeEnvironment, options: NodeOptions) -> None:
        shares = shares_of(
            self.store,
            self.membership,
            self.reader,
            self.log,
            options.tenants,
            options.queues,
            options.step_limits,
            options.cluster_limits,
        )
        sender = StepSender(
            self.store, self.placement, self.cache, self.plans, self.log, BackgroundTasks("a step could not be sent")
        )
        self.steps = StepWorker(
            self.store,
            self.watch,
            self.membership,
            self.liveness,
            self.intake,
            self.in_hand,
            self.cache,
            self.plans,
            self.placement,
            sender,
            self.launcher.launch,
            self.running,
            shares,
            options.step_concurrency,
            options.tenants,
            self.spent,
            self.log,
        )

    def _connect(self) -> None:
        """Calls that lead from lower components to higher ones."""
        self.in_hand.include(self.running.of_instance, self.lanes.has)
        self.conflicts.submit = self.lanes.submit
        self.suspended.look_again = self.lanes.look_again
        self.running.on_end = self.steps.effect_ended
        self.running.on_canceled_elsewhere = self.reaper.end_canceled
        self.reaper.resend, self.reaper.may_lack_ticket = self.steps.resend, self.steps.may_lack_ticket
        self.router.take, self.router.take_own = self.poller.take, self.poller.take_own
        self.alterations.take_own = self.poller.take_own
        self.poller.take_one_in_quarantine = self.quarantine.take_one
        self.executor.hooks = CommitHooks(
            start_effects=self.running.start_committed,
            send_steps=self.steps.send,
            take_work=self.poller.take_own,
            instance_ended=self.router.instance_ended,
            bookmarks_added=self.inbox.bookmarks_added,
        )


def _calendar(services: Services) -> CronCalendar:
    """The calendar that was registered as a service, or the standard one."""
    try:
        return services.get(CronCalendar)  # type: ignore[type-abstract]  # a port names the registered service
    except ExecutionError:
        return CRON
