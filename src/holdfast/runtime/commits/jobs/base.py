"""What a lane is asked to do with one instance. A job changes the live instance; the lane commits what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectFailure, Record
from holdfast.model.guard import Guard
from holdfast.model.instance import Incident, JournalEvent, Status
from holdfast.model.listing import InstanceFilter
from holdfast.model.work import DeadLetterRow, EffectRef, ScheduleStep, WorkRow
from holdfast.runtime.commits.state_codec import decode_payload
from holdfast.runtime.result import RunResult


class Answer(Struct, frozen=True):
    """What became of a job."""

    result: RunResult | None = None
    existing: str | None = None
    """The instance that holds the key, the slot or the id: nothing was started."""
    dropped: bool = False
    """Somebody else did it, it was late, or there was nothing to do."""
    version: int = 0
    """The version that its commit wrote; 0 where it wrote none."""


class Job:
    """One delivery to one instance."""

    __slots__ = (
        "answer",
        "changed",
        "consumes_effect",
        "consumes_work",
        "fires",
        "guards",
        "hears",
        "instance_id",
        "sure",
        "tries",
    )

    consumes_inbox: tuple[str, ...] = ()
    """Kept stimuli that it delivers: deleted by the commit that did it."""
    drops: tuple[str, ...] = ()
    """Work rows that are pointless once it is done."""
    adds: tuple[WorkRow, ...] = ()
    """Work that its commit puts on the table."""
    buries: tuple[DeadLetterRow, ...] = ()
    """Dead letters that its commit leaves."""
    idle = False
    """It only writes something down: what waits in the instance's queue is left for others."""
    rewrites = False
    """Its commit writes rows anew that others may have in hand for a moment: then it is tried again."""
    quiet = False
    """A hint: where there is nothing to do, its row is used up and nobody hears of it."""
    condition: InstanceFilter | None = None
    """Tested on the instance in the commit that does it; one that does not fit is left alone (rule M7)."""

    def __init__(
        self,
        instance_id: str,
        wanted: bool = True,
        consumes_work: str | None = None,
        guards: tuple[Guard, ...] = (),
        fires: ScheduleStep | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.fires = fires
        """The schedule that asked for it: moved on by the commit that did it (rule M20)."""
        self.consumes_work = consumes_work
        """The work row that asked for it: deleted by the commit that did it."""
        self.consumes_effect: EffectRef | None = None
        self.guards = guards
        self.changed = False
        """Whether it did something to the instance, when it was last applied."""
        self.sure = False
        """To be decided by the stored state, not by a hot one that another node may have moved on from."""
        self.tries = 0
        self.answer: asyncio.Future[Answer] | None = asyncio.get_running_loop().create_future() if wanted else None
        self.hears: Callable[[BaseException | None], None] | None = None
        """Told at once that it is done, or why it is not; cheaper than a future that nobody awaits."""

    def apply(self, live: LiveInstance) -> bool:
        """Change the instance; False if there is nothing to do. Raises what the asker should hear; nothing is changed then."""
        raise NotImplementedError

    def tell(self, answer: Answer) -> None:
        if self.answer is not None:
            if not self.answer.done():
                self.answer.set_result(answer)
        elif self.hears is not None:
            self._hear(None)

    def refuse(self, error: BaseException) -> None:
        if self.answer is not None:
            if not self.answer.done():
                self.answer.set_exception(error)
        elif self.hears is not None:
            self._hear(error)

    def _hear(self, error: BaseException | None) -> None:
        """Once: the first word counts."""
        hears, self.hears = self.hears, None
        if hears is not None:
            hears(error)


class StartJob(Job):
    """A new instance. Its inputs are checked and complete."""

    __slots__ = ("content", "make", "parent", "plan", "waits")

    def __init__(
        self,
        instance_id: str,
        plan: Plan,
        content: str,
        make: Callable[[], LiveInstance],
        guards: tuple[Guard, ...] = (),
        *,
        parent: tuple[str, str] | None = None,
        waits: bool = True,
        wanted: bool = True,
        consumes_work: str | None = None,
        fires: ScheduleStep | None = None,
    ) -> None:
        Job.__init__(self, instance_id, wanted, consumes_work, guards, fires)  # Nothing between: it is the busiest job.
        self.plan = plan
        self.content = content
        self.make = make
        """Makes the instance; again, if the commit is lost."""
        self.parent = parent
        """Instance and bookmark that asked for it."""
        self.waits = waits
        """The parent wants to hear of the end; else it goes on as soon as this one has begun."""

    def apply(self, live: LiveInstance) -> bool:
        """It was made with its root in the queue."""
        return True


class ResumeJob(Job):
    __slots__ = ("bookmark_id", "payload", "quiet")

    def __init__(
        self,
        instance_id: str,
        bookmark_id: str,
        payload: Any = None,
        *,
        quiet: bool = False,
        wanted: bool = True,
        consumes_work: str | None = None,
        guards: tuple[Guard, ...] = (),
    ) -> None:
        Job.__init__(self, instance_id, wanted, consumes_work, guards)  # Nothing between: each event makes one.
        self.bookmark_id = bookmark_id
        self.payload = payload
        self.quiet = quiet
        """A timer or a child's end."""

    def apply(self, live: LiveInstance) -> bool:
        if self.quiet and (self.bookmark_id not in live.bookmarks or live.status.at_rest):
            return False
        return delivery.resume(live, self.bookmark_id, self.read(live))

    def read(self, live: LiveInstance) -> Any:
        return self.payload


class StoredResumeJob(ResumeJob):
    """A resume that comes from a row: its payload is decoded by the types of the instance that it reaches."""

    __slots__ = ()

    def read(self, live: LiveInstance) -> Any:
        return decode_payload(self.payload, live.plan.types)


class EffectJob(Job):
    """The result of an effect that this node owned.

    The row in the store says which attempt counts. A take-over changes the row and not the state, so the state's attempt
    follows the result's; if the row is not this result's any more, the commit is lost, and the result is journaled as late.
    """

    __slots__ = ("late", "ref", "result")

    def __init__(self, instance_id: str, ref: EffectRef, result: Record | EffectFailure, **more: Any) -> None:
        Job.__init__(self, instance_id, False, **more)
        self.ref = ref
        self.result = result
        self.late = False

    def apply(self, live: LiveInstance) -> bool:
        self.consumes_effect = None
        execution_id, attempt, _ = self.ref
        if live.status.at_rest:
            return False
        activation = live.waiters.get(execution_id)
        if self.late:
            live.note(JournalEvent.RESULT_DROPPED, activation, {"execution": execution_id, "attempt": attempt})
            return True
        request = live.effects.get(execution_id)
        if request is not None and activation is not None and request.attempt < attempt:
            request.attempt = activation.attempt = attempt
        if delivery.finish_effect(live, execution_id, attempt, self.result):
            self.consumes_effect = self.ref
            if live.incidents:  # It was thought to be lost, and its process lives.
                found_again(live, execution_id)
        return True


class LostJob(EffectJob):
    """An effect that ended every process that tried it: it fails, and the commit that says so leaves a dead letter."""

    __slots__ = ("buries", "letter")

    def __init__(self, instance_id: str, ref: EffectRef, result: EffectFailure, letter: DeadLetterRow) -> None:
        super().__init__(instance_id, ref, result)
        self.letter = letter
        self.buries = ()

    def apply(self, live: LiveInstance) -> bool:
        changed = super().apply(live)
        self.buries = () if self.consumes_effect is None else (self.letter,)
        return changed


LOST = "lost"
"""The type of the incident that stands for an effect which is held."""


def found_again(live: LiveInstance, execution_id: int) -> None:
    """Nobody has to look at this effect any more."""
    live.incidents = [item for item in live.incidents if item.type != LOST or item.execution_id != execution_id]


class HoldJob(Job):
    """An effect whose node died and that must not run again by itself: somebody has to look at it."""

    __slots__ = ("execution_id", "node_name")

    def __init__(self, instance_id: str, execution_id: int, node_name: str) -> None:
        super().__init__(instance_id, wanted=False)
        self.execution_id = execution_id
        self.node_name = node_name

    def apply(self, live: LiveInstance) -> bool:
        request = live.effects.get(self.execution_id)
        if request is None or live.status.at_rest:
            return False
        identity = f"{live.id}-{LOST}-{self.execution_id}-{request.attempt}"
        if any(item.id == identity for item in live.incidents):
            return False
        lost = f"Node '{self.node_name}' died" if self.node_name else "A node was stopped"
        message = (
            f"{lost} while it ran '{request.activity_id}', and nobody knows how far it came. It is not run again by itself "
            f"(on_lost: hold). Look, then run it again (holdfast instances recover {live.id}) or cancel the instance."
        )
        live.incidents.append(
            Incident(
                id=identity,
                type=LOST,
                message=message,
                at=live.moment(),
                activity_id=request.activity_id,
                execution_id=request.execution_id,
                attempt=request.attempt,
            )
        )
        live.note(JournalEvent.INCIDENT, live.waiters.get(self.execution_id), {"type": LOST, "message": message})
        return True


class PoisonJob(Job):
    """Work of this instance ends processes: an incident says so. Its queue is not run, for it may be what does it."""

    __slots__ = ("message", "work_id")

    idle = True

    def __init__(self, instance_id: str, work_id: str, message: str) -> None:
        super().__init__(instance_id)
        self.work_id = work_id
        self.message = message

    def apply(self, live: LiveInstance) -> bool:
        identity = f"{live.id}-poison-{self.work_id}"
        if any(item.id == identity for item in live.incidents):
            return False
        live.incidents.append(Incident(id=identity, type="process-died", message=self.message, at=live.moment()))
        live.note(JournalEvent.INCIDENT, None, {"type": "process-died", "message": self.message})
        return True


class TakenOverJob(Job):
    """A receipt: whose effect it was, who has it now."""

    __slots__ = ("alone", "attempt", "by", "died", "execution_id")

    idle = True

    def __init__(
        self, instance_id: str, execution_id: int, *, died: str, by: str, attempt: int, alone: bool = False
    ) -> None:
        super().__init__(instance_id)
        self.alone = alone
        """Nothing else is begun beside it."""
        self.execution_id = execution_id
        self.died = died
        self.by = by
        self.attempt = attempt

    def apply(self, live: LiveInstance) -> bool:
        if live.status.at_rest or self.execution_id not in live.effects:
            return False
        told = f"{f'node {self.died}' if self.died else 'its node'} died, effect taken over by {self.by}, attempt {self.attempt}"
        data = {"node": self.died, "by": self.by, "attempt": self.attempt, "message": told}
        if self.alone:
            data |= {"alone": True, "message": f"{told}, with nothing beside it"}
        live.note(JournalEvent.TAKEN_OVER, live.waiters.get(self.execution_id), data)
        return True


class ContinueJob(Job):
    """Go on with the queue of a segment that was cut."""

    __slots__ = ()

    quiet = True

    def apply(self, live: LiveInstance) -> bool:
        return bool(live.queue)


TERMINATED = "terminated"
"""The cause of a cancellation that runs nothing any more: neither `finally` nor compensation (rule M1)."""


class CancelJob(Job):
    __slots__ = ("cause", "finalize", "quiet")

    def __init__(
        self, instance_id: str, cause: str, *, finalize: bool = True, quiet: bool = False, **more: Any
    ) -> None:
        super().__init__(instance_id, **more)
        self.cause = cause if finalize else TERMINATED
        self.finalize = finalize
        self.quiet = quiet
        """A parent's wish: an instance that has ended is as good."""

    def apply(self, live: LiveInstance) -> bool:
        if self.quiet and live.status in (Status.FINISHED, Status.CANCELED):
            return False
        delivery.cancel(live, self.cause, finalize=self.finalize)
        return True


class RetryJob(Job):
    __slots__ = ()

    def apply(self, live: LiveInstance) -> bool:
        delivery.retry(live)
        return True
