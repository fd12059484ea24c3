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
from holdfast.model.work import EffectRef
from holdfast.runtime.result import RunResult

LOST_CHECKS_MAX = 3


class Answer(Struct, frozen=True, kw_only=True):
    """What became of a job."""

    result: RunResult | None = None
    existing: str | None = None
    """The instance that holds the key or slot: nothing was started."""
    dropped: bool = False
    """Somebody else did it, or it was late."""


class Job:
    """One delivery to one instance."""

    __slots__ = ("answer", "consumes_effect", "consumes_work", "instance_id", "on_line", "tries")

    def __init__(
        self,
        instance_id: str,
        *,
        wanted: bool = True,
        consumes_work: str | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.consumes_work = consumes_work
        """The work row that asked for it: deleted by the commit that did it."""
        self.consumes_effect: EffectRef | None = None
        self.on_line = on_line
        self.tries = 0
        self.answer: asyncio.Future[Answer] | None = asyncio.get_running_loop().create_future() if wanted else None

    def apply(self, live: LiveInstance) -> None:
        """Change the instance. Raises what the asker should hear; nothing is changed then."""
        raise NotImplementedError

    def tell(self, answer: Answer) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(answer)

    def refuse(self, error: BaseException) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(error)


class StartJob(Job):
    """A new instance. Its inputs are checked and complete."""

    __slots__ = ("content", "guards", "make", "plan")

    def __init__(
        self,
        instance_id: str,
        *,
        plan: Plan,
        content: str,
        make: Callable[[], LiveInstance],
        guards: tuple[Guard, ...] = (),
        **more: Any,
    ) -> None:
        super().__init__(instance_id, **more)
        self.plan = plan
        self.content = content
        self.make = make
        """Makes the instance; again, if the commit is lost to somebody else's key."""
        self.guards = guards

    def apply(self, live: LiveInstance) -> None:
        """It was made with its root in the queue."""


class ResumeJob(Job):
    __slots__ = ("bookmark_id", "payload", "quiet")

    def __init__(
        self, instance_id: str, bookmark_id: str, payload: Any = None, *, quiet: bool = False, **more: Any
    ) -> None:
        super().__init__(instance_id, **more)
        self.bookmark_id = bookmark_id
        self.payload = payload
        self.quiet = quiet
        """A timer or a child's end: a hint. If its bookmark is gone, the row is deleted and nothing happens."""

    def apply(self, live: LiveInstance) -> None:
        if self.quiet and (self.bookmark_id not in live.bookmarks or live.status.at_rest):
            return
        delivery.resume(live, self.bookmark_id, self.payload)


class EffectJob(Job):
    """The result of an effect that this node owned."""

    __slots__ = ("attempt", "execution_id", "result")

    def __init__(self, instance_id: str, ref: EffectRef, result: Record | EffectFailure, **more: Any) -> None:
        super().__init__(instance_id, wanted=False, **more)
        self.execution_id, self.attempt = ref.execution, ref.attempt
        self.consumes_effect = ref
        self.result = result

    def apply(self, live: LiveInstance) -> None:
        if not delivery.finish_effect(live, self.execution_id, self.attempt, self.result):
            self.consumes_effect = None


class ContinueJob(Job):
    """Go on with the queue of a segment that was cut."""

    __slots__ = ()

    def apply(self, live: LiveInstance) -> None:
        """The queue is in its state."""


class CancelJob(Job):
    __slots__ = ("cause", "finalize")

    def __init__(self, instance_id: str, cause: str, *, finalize: bool = True, **more: Any) -> None:
        super().__init__(instance_id, **more)
        self.cause = cause
        self.finalize = finalize

    def apply(self, live: LiveInstance) -> None:
        delivery.cancel(live, self.cause, finalize=self.finalize)


class RetryJob(Job):
    __slots__ = ()

    def apply(self, live: LiveInstance) -> None:
        delivery.retry(live)
