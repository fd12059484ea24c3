"""The job that delivers stimuli to one instance, in order (rules H12 and H16).

Each stimulus is matched when it is applied: stimuli that an instance takes one after the other are one burst and one commit.
A stimulus that fits no bookmark now stays where it is; the caller reads the outcome of each letter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from holdfast.errors import PayloadRefused
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.fitting_bookmarks import fitting, open_since, wake_keys
from holdfast.runtime.commits.jobs.base import DROPPED, Job, Retries
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.payload_codec import decode_payload


class Letter:
    """A stimulus on its way to one instance, and its outcome."""

    __slots__ = ("declined", "delivered", "found", "guard", "keys", "only", "payload", "refused", "rows", "spent")

    def __init__(self, found: Stimulus, rows: tuple[str, ...] = (), only: str | None = None) -> None:
        """`rows` are its inbox rows; `only` is the one bookmark that may take it, if other instances wait for it too."""
        self.found = found
        self.rows = rows
        self.only = only
        self.payload = work_rows.encoded_input(found)
        self.keys = wake_keys(found)
        self.guard = _guard(found)
        self.spent = False
        """An earlier delivery has its idempotency key: its rows are deleted, and it is not delivered again."""
        self.reset()

    def reset(self) -> None:
        """The burst runs (again) from the stored state."""
        self.delivered: str | None = None
        """The bookmark that took it."""
        self.declined: list[int] = []
        """Numbers of bookmarks whose activity declined it."""
        self.refused: PayloadRefused | None = None

    @property
    def is_open(self) -> bool:
        return self.delivered is None and self.refused is None and not self.spent


class MailJob(Job):
    """Delivers letters in their order. `seen` is the last bookmark that the inbox was compared with, None for a stimulus that is
    not in the inbox: a wait that was opened later, for another event, may have older mail, so the rest is delivered after it."""

    __slots__ = (
        "_live",
        "consumes_inbox",
        "done_elsewhere",
        "letters",
        "lost",
        "repeats",
        "resumes",
        "seen",
        "stale",
    )

    def __init__(self, key: InstanceKey, letters: Sequence[Letter], seen: int | None = None, **more: Any) -> None:
        super().__init__(key, **more)
        self.letters = letters
        self.seen = seen
        self.lost = False
        """The commit had a conflict: nothing was delivered, and the caller matches again."""
        self.done_elsewhere = False
        """Another commit consumed the rows of the job."""
        self.stale = False
        """The instance has waits that the inbox was not compared with."""
        self._live: LiveInstance | None = None
        self.consumes_inbox: tuple[str, ...] = ()
        self.resumes: tuple[str, ...] = ()
        self.repeats = len(letters) > 1

    # -- delivery ------------------------------------------------------------------------------------------------------

    def apply(self, live: LiveInstance) -> bool:
        """Deliver the first letter that a bookmark takes; called again while letters are left."""
        if live is not self._live:
            self._begin(live)
            delivery.refuse_at_rest(live)
        elif live.status.at_rest:
            return False
        if self._opened_others(live):
            self.stale = True
            return False
        for letter in self.letters:
            if letter.is_open and (mark := self._deliver(live, letter)) is not None:
                self.resumes = (*self.resumes, mark)
                self.consumes_inbox += letter.rows
                if letter.guard is not None:
                    self.guards = (*self.guards, letter.guard)
                return True
            if letter.refused is not None:
                return False  # Its dead letter is written before the next letter is delivered.
        return False

    def _begin(self, live: LiveInstance) -> None:
        """The burst runs (again) from the stored state."""
        self._live = live
        self.stale = False
        self.guards = self.resumes = ()
        for letter in self.letters:
            letter.reset()
        self.consumes_inbox = tuple(row for letter in self.letters if letter.spent for row in letter.rows)

    def _opened_others(self, live: LiveInstance) -> bool:
        if self.seen is None:
            return False
        known: Collection[int] = {key for letter in self.letters for key in letter.keys}
        return any(key not in known for key in open_since(live, self.seen))

    @staticmethod
    def _deliver(live: LiveInstance, letter: Letter) -> str | None:
        """The bookmark that took the letter."""
        refused: PayloadRefused | None = None
        for mark in fitting(live, letter.found, letter.keys):
            if letter.only not in (None, mark.id) or int(mark.id[1:]) in letter.declined:
                continue
            try:
                taken = delivery.resume(live, mark.id, decode_payload(letter.payload, live.plan.types))
            except PayloadRefused as error:
                refused = refused or error
                continue
            if taken:
                letter.delivered = mark.id
                return mark.id
            letter.declined.append(int(mark.id[1:]))
        letter.refused = refused
        return None

    # -- the commit was not written ------------------------------------------------------------------------------------

    def on_conflict(self, conflict: Conflict, retries: Retries) -> None:
        """The caller matches again, so that no later stimulus overtakes this one meanwhile."""
        self._live = None
        if conflict.reason is ConflictReason.SLOT:
            super().on_conflict(conflict, retries)
            return
        if conflict.reason is ConflictReason.KEY:
            known = [
                letter for letter in self.letters if letter.guard is not None and letter.guard.name == conflict.name
            ]
            for letter in known:
                letter.reset()
                letter.spent = True
            if known:
                retries.again(self)
                return
        for letter in self.letters:
            letter.reset()
        self.done_elsewhere = conflict.reason is ConflictReason.WORK and self._was_done_elsewhere(conflict)
        self.lost = not self.done_elsewhere
        self.finish(DROPPED)


def _guard(found: Stimulus) -> Guard | None:
    """An addressed stimulus with an idempotency key is delivered once, independent of its row."""
    return idempotency_key(operation="stimulus", target=found.type, key=found.id) if found.guarded else None
