"""From a live instance after a segment to the commit that keeps it: what is there now against what was there before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from holdfast.execution.composite import UNSET
from holdfast.execution.discretion import permitted
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.record import EffectRequest
from holdfast.model.commit import Commit
from holdfast.model.definition import ActivationStrategy
from holdfast.model.guard import Guard, activation_slot
from holdfast.model.instance import Bookmark, BookmarkKind, Incident, moment
from holdfast.model.policy import OnLost
from holdfast.model.stored import (
    BookmarkRef,
    BookmarkRow,
    IncidentRow,
    InstanceRow,
    JournalSegment,
    correlation_key,
    wake_key,
)
from holdfast.model.work import EffectRef, EffectRow, Owner, WorkKind, WorkRow
from holdfast.runtime.durable.encoding import encode_journal, encode_payload, encode_state

_STORED_KINDS = (BookmarkKind.ACTIVITY, BookmarkKind.CHILD)
"""Kinds that stimuli can find. The others are woken by their timer alone."""


class Before(Struct, frozen=True, kw_only=True):
    """What the last commit of the instance left."""

    version: int = 0
    correlation_id: str | None = None
    bookmarks: dict[str, Bookmark] = {}
    incidents: frozenset[str] = frozenset()
    parent_told: bool = False


NEW = Before()


def remember(live: LiveInstance, version: int) -> Before:
    return Before(
        version=version,
        correlation_id=live.correlation_id,
        bookmarks=dict(live.bookmarks),
        incidents=frozenset(item.id for item in live.incidents),
    )


class Consumed(Struct, kw_only=True):
    """Rows that this segment used up."""

    work: list[str] = []
    effects: list[EffectRef] = []
    guards: list[Guard] = []


class Maker:
    """Makes the commits of one node for one tenant."""

    def __init__(self, tenant: str, owner: Owner) -> None:
        self.tenant = tenant
        self.owner = owner

    def commit(
        self,
        live: LiveInstance,
        before: Before,
        consumed: Consumed,
        *,
        burst_id: str,
        content: str,
        go_on: str | None = None,
    ) -> Commit:
        """`go_on` is the id of a `continue` row: the segment was cut with work left in its queue."""
        at = live.now()
        now = moment(at)
        version = before.version + 1
        entries = permitted(live.plan.journal_rules, live.journal)
        taken, released = self._slots(live, before, consumed)
        burned, added, timers_gone, timers = self._bookmarks(live, before, now)
        resolved = before.incidents - {item.id for item in live.incidents}
        work = [*timers, *self._messages(live, before, now, content, go_on)]
        return Commit(
            tenant=self.tenant,
            burst_id=burst_id,
            instance=InstanceRow(
                tenant=self.tenant,
                id=live.id,
                version=version,
                burst_id=burst_id,
                status=live.status.value,
                content=content,
                definition_id=live.definition_id,
                definition_version=live.definition_version,
                correlation_id=live.correlation_id,
                name=live.name,
                parent_id=live.parent_id,
                incidents=len(live.incidents),
                created=moment(live.created),
                updated=now,
                finished=now if live.status.at_rest else None,
                state=encode_state(live),
            ),
            journal=JournalSegment(
                version=version,
                burst_id=burst_id,
                first=live.journal_base,
                count=len(entries),
                written=now,
                data=encode_journal(live.plan, entries),
            ),
            guards_taken=taken,
            guards_released=released,
            bookmarks_burned=burned,
            bookmarks_added=added,
            work_consumed=tuple(consumed.work),
            work_dropped=timers_gone,
            work_added=tuple(work),
            effects_consumed=tuple(consumed.effects),
            effects_dropped=tuple(live.canceled_effects),
            effects_added=tuple(self._effect(live, item, now) for item in live.new_effects),
            incidents_added=tuple(
                self._incident(live, item) for item in live.incidents if item.id not in before.incidents
            ),
            incidents_resolved=tuple(resolved),
        )

    # -- guards --------------------------------------------------------------------------------------------------------

    def _slots(self, live: LiveInstance, before: Before, consumed: Consumed) -> tuple[Any, Any]:
        """Keys of the request, and the slot of the activation strategy: taken by the start, given back by the end."""
        held = None if before.version == 0 else slot_of(live, before.correlation_id)
        wanted = None if live.status.at_rest else slot_of(live, live.correlation_id)
        taken = [*consumed.guards, *([wanted] if wanted is not None and wanted != held else [])]
        released = (held.ref,) if held is not None and held != wanted else ()
        return tuple(taken), released

    # -- bookmarks and timers ------------------------------------------------------------------------------------------

    def _bookmarks(self, live: LiveInstance, before: Before, now: Any) -> tuple[Any, Any, Any, list[WorkRow]]:
        moved = live.correlation_id != before.correlation_id
        old, new = before.bookmarks, {} if live.status.at_rest else live.bookmarks
        gone = [item for key, item in old.items() if moved or key not in new]
        fresh = [item for key, item in new.items() if moved or key not in old]
        return (
            tuple(_ref(item, before.correlation_id) for item in gone if item.kind in _STORED_KINDS),
            tuple(self._bookmark(live, item, now) for item in fresh if item.kind in _STORED_KINDS),
            tuple(timer_id(live.id, key) for key, item in old.items() if key not in new and item.due is not None),
            [self._timer(live, item, now) for key, item in new.items() if key not in old and item.due is not None],
        )

    def _bookmark(self, live: LiveInstance, item: Bookmark, now: Any) -> BookmarkRow:
        ref = _ref(item, live.correlation_id)
        return BookmarkRow(
            tenant=self.tenant,
            instance_id=live.id,
            seq=ref.seq,
            key=ref.key,
            correlation=ref.correlation,
            type=item.name,
            activity_id=item.activity_id,
            created=now,
            payload=encode_payload(item.payload, live.plan.types),
        )

    def _timer(self, live: LiveInstance, item: Bookmark, now: Any) -> WorkRow:
        return WorkRow(
            tenant=self.tenant,
            id=timer_id(live.id, item.id),
            kind=WorkKind.TIMER,
            due=item.due,
            instance_id=live.id,
            bookmark_seq=seq_of(item.id),
            created=now,
        )

    # -- everything else that leaves with the commit -------------------------------------------------------------------

    def _messages(
        self, live: LiveInstance, before: Before, now: Any, content: str, go_on: str | None
    ) -> Iterable[WorkRow]:
        if go_on is not None:
            yield self._row(live, go_on, WorkKind.CONTINUE, now, content=content)
        for start in live.child_starts:
            yield self._row(live, start_id(start), WorkKind.START, now, payload=child_start(start, live))
        if live.status.at_rest and live.parent_id is not None:
            payload = {
                "bookmark": live.parent_id.partition("#")[2],
                "payload": {"instance_id": live.id, "status": live.status.value, "outputs": outputs_of(live)},
            }
            parent = live.parent_id.partition("#")[0]
            row_id = f"{live.id}.end"
            encoded = encode_payload(payload, live.plan.types)
            yield WorkRow(
                tenant=self.tenant, id=row_id, kind=WorkKind.RESUME, instance_id=parent, created=now, payload=encoded
            )
        for number, event in enumerate(live.published):
            payload_bytes = encode_payload(event, live.plan.types)
            yield self._row(
                live, f"{live.id}.e{before.version}.{number}", WorkKind.STIMULUS, now, payload=payload_bytes
            )

    def _row(
        self, live: LiveInstance, row_id: str, kind: str, now: Any, *, payload: bytes = b"", content: str = ""
    ) -> WorkRow:
        return WorkRow(
            tenant=self.tenant,
            id=row_id,
            kind=kind,
            instance_id=live.id,
            created=now,
            payload=payload,
            content=content,
        )

    def _effect(self, live: LiveInstance, request: EffectRequest, now: Any) -> EffectRow:
        node = live.plan.by_key[request.activity_id]
        return EffectRow(
            tenant=self.tenant,
            instance_id=live.id,
            execution=request.execution_id,
            attempt=request.attempt,
            owner=self.owner,
            activity_id=request.activity_id,
            type=node.definition.type,
            on_lost=(node.definition.options.on_lost or OnLost.RETRY).value,
            created=now,
            deadline=None if node.timeout is None else now + node.timeout,
            inputs=encode_payload(request.inputs, live.plan.types),
        )

    def _incident(self, live: LiveInstance, item: Incident) -> IncidentRow:
        return IncidentRow(
            tenant=self.tenant,
            instance_id=live.id,
            id=item.id,
            kind=item.type,
            activity_id=item.activity_id or "",
            occurred=item.at,
            payload=encode_payload({"message": item.message, "source": item.source}, live.plan.types),
        )


# -- names -------------------------------------------------------------------------------------------------------------


def seq_of(bookmark_id: str) -> int:
    return int(bookmark_id.removeprefix("b"))


def timer_id(instance_id: str, bookmark_id: str) -> str:
    return f"{instance_id}.t{seq_of(bookmark_id)}"


def start_id(start: ChildStart) -> str:
    return f"{start.instance_id}.start"


def _ref(item: Bookmark, correlation_id: str | None) -> BookmarkRef:
    return BookmarkRef(wake_key(item.name, item.hash.encode()), correlation_key(correlation_id), seq_of(item.id))


def slot_of(live: LiveInstance, correlation_id: str | None) -> Guard | None:
    strategy = live.plan.definition.options.activation
    if strategy is ActivationStrategy.ALWAYS:
        return None
    by_definition = strategy is not ActivationStrategy.CORRELATION
    by_correlation = strategy is not ActivationStrategy.SINGLETON
    return activation_slot(
        strategy=strategy.value,
        definition_id=live.definition_id if by_definition else "",
        correlation_id=(correlation_id or "") if by_correlation else "",
    )


def child_start(start: ChildStart, live: LiveInstance) -> bytes:
    bookmark = next(
        item.id
        for item in live.bookmarks.values()
        if item.kind is BookmarkKind.CHILD and item.execution_id == start.execution_id
    )
    return encode_payload(
        {
            "reference": start.reference,
            "input": start.input,
            "wait": start.wait,
            "correlation_id": start.correlation_id,
            "instance_id": start.instance_id,
            "parent_id": f"{live.id}#{bookmark}",
        },
        live.plan.types,
    )


def outputs_of(live: LiveInstance) -> dict[str, Any]:
    scope = live.root.scope
    declared = {name: scope[slot] for name, slot in scope[1].outputs.items() if scope[slot] is not UNSET}
    return {**declared, **live.spare_outputs}
