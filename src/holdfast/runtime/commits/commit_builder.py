"""Builds the commit of a live instance: the difference between its state now and the state of its last commit."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from holdfast.execution.activation_slot import no_slot
from holdfast.execution.journal_policy import permitted
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.record import EffectRequest
from holdfast.model.commit import Commit
from holdfast.model.instance import Incident, moment
from holdfast.model.policy import OnLost
from holdfast.model.stored import (
    IncidentRow,
    InstanceRow,
    JournalSegment,
    ValueRow,
)
from holdfast.model.work import (
    NO_OWNER,
    EffectRow,
    WorkKind,
    WorkRow,
    home_queue,
    queue_of,
)
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.activation_slots import slots
from holdfast.runtime.commits.baseline import NOTHING, Baseline, Consumed
from holdfast.runtime.commits.bookmark_rows import bookmark_rows, orphans
from holdfast.runtime.commits.large_values import Packed
from holdfast.runtime.commits.placement import HELD, Placement, step_id, step_priority, step_row
from holdfast.runtime.commits.plan_rows import add_plans
from holdfast.runtime.commits.reply_rows import reply_records
from holdfast.runtime.commits.state_codec import encode_journal, encode_state
from holdfast.runtime.membership import Membership
from holdfast.runtime.payload_codec import encode_payload
from holdfast.runtime.plans.plans import Plans

_ON_LOST = {None: OnLost.RETRY.value} | {rule: rule.value for rule in OnLost}
"""A plain dict: reading `.value` of an enumeration is a call, and this is the hot path."""


class CommitBuilder:
    def __init__(self, membership: Membership, placement: Placement, plans: Plans) -> None:
        self._membership = membership
        self._placement = placement
        self._plans = plans

    def commit(
        self,
        tenant: str,
        live: LiveInstance,
        before: Baseline,
        consumed: Consumed,
        now: datetime,
        *,
        burst_id: str,
        content: str,
        starts: Iterable[ChildStart] = (),
        begun: bool = False,
        continue_id: str | None = None,
    ) -> Commit:
        """`continue_id` is the id of a `continue` row: the segment was cut with work left in its queue. `begun`: the parent is
        notified that the instance has begun."""
        version = live.commits = before.version + 1
        # Most commits have few kinds of rows; kinds that are not named are empty.
        rows: dict[str, Any] = {}
        if live.bookmarks or before.bookmarks:
            rows = bookmark_rows(tenant, live, before, consumed, now, content)
        if live.replies and (replies := reply_records(tenant, live, now)):
            rows["records"] = (*rows.get("records", ()), *replies)
        if live.new_effects or live.canceled_effects:
            if live.canceled_effects:
                self._add_canceled(rows, live)
            live.new_effects = fresh = _fresh_effects(live)
            added = rows["effects_added"] = tuple([self._effect(tenant, live, item, now) for item in fresh])
            if self._placement.rows and (
                steps := [
                    step_row(row, content, now, step_priority(live.plan, row)) for row in added if row.owner == NO_OWNER
                ]
            ):
                rows["work_added"] = (*rows.get("work_added", ()), *steps)
        if live.incidents or before.incidents:
            self._add_incidents(tenant, rows, live, before)
        left = orphans(live, before, consumed) if before.bookmarks else []
        if (
            live.parent_id is not None or live.published or left
            or starts or continue_id is not None or consumed.work_added or consumed.work_dropped
        ):  # fmt: skip
            self._add_work(
                tenant, rows, live, before, consumed, now, content, starts, left, begun=begun, continue_id=continue_id
            )
        if live.submitted_plans:
            add_plans(rows, tenant, live.submitted_plans, now)
        state = _state_after(live)
        if state.values or before.values or state.pages is not None:
            self._add_values(tenant, rows, live, before, state)
        if consumed is not NOTHING or live.plan.slot is not no_slot:
            self._add_consumed(rows, live, before, consumed)
        row = self._instance(tenant, live, before, version, burst_id, content, now, state.state)
        return Commit(burst_id, tenant, row, self._segment(live, version, burst_id, now), **rows)

    @staticmethod
    def _add_consumed(rows: dict[str, Any], live: LiveInstance, before: Baseline, consumed: Consumed) -> None:
        taken, released = slots(live, before, consumed)
        if taken:
            rows["guards_taken"] = taken
        if released:
            rows["guards_released"] = released
        if consumed.work:
            rows["work_consumed"] = consumed.work
        if consumed.effects:
            rows["effects_consumed"] = consumed.effects
        if consumed.schedules:
            rows["schedules_fired"] = consumed.schedules
        if consumed.inbox:
            rows["inbox_consumed"] = consumed.inbox
        if consumed.dead_letters:
            rows["dead_letters"] = consumed.dead_letters

    def _instance(
        self,
        tenant: str,
        live: LiveInstance,
        before: Baseline,
        version: int,
        burst_id: str,
        content: str,
        now: datetime,
        state: bytes,
    ) -> InstanceRow:
        parent, definition = live.parent_id, live.plan.definition
        status = live.status
        system = False
        return InstanceRow(
            live.id,
            version,
            burst_id,
            status.word,
            content,
            definition.id,
            self._plans.of(tenant).numbers.get(content, definition.version),
            before.created or moment(live.created),
            now,
            tenant,
            live.correlation_id,
            live.name,
            None if parent is None else work_rows.parent_of(parent)[0],
            system,
            len(live.incidents),
            (before.finished or now) if status.at_rest else None,
            state,
        )

    @staticmethod
    def _segment(live: LiveInstance, version: int, burst_id: str, now: datetime) -> JournalSegment:
        rules = live.plan.journal_rules
        entries = permitted(rules, live.journal) if rules else live.journal
        data = encode_journal(live.plan, entries)
        return JournalSegment(version, burst_id, now, live.journal_base, len(entries), data)

    @staticmethod
    def _add_values(tenant: str, rows: dict[str, Any], live: LiveInstance, before: Baseline, state: Packed) -> None:
        added = [(ref, data) for ref, data in state.values.items() if ref not in before.values]
        dropped = [*before.values.difference(state.values)]
        pages, live.heap = state.pages, None
        if pages is not None:
            added += pages.added.items()
            dropped += pages.dropped
            live.heap = pages.after
        rows["values_added"] = tuple(
            [ValueRow(tenant=tenant, instance_id=live.id, ref=ref, data=data) for ref, data in added]
        )
        rows["values_dropped"] = tuple(dropped)

    # -- everything else that leaves with the commit -------------------------------------------------------------------

    @staticmethod
    def _add_work(
        tenant: str,
        rows: dict[str, Any],
        live: LiveInstance,
        before: Baseline,
        consumed: Consumed,
        now: datetime,
        content: str,
        starts: Iterable[ChildStart],
        left: list[str],
        *,
        begun: bool,
        continue_id: str | None,
    ) -> None:
        added: list[WorkRow] = list(consumed.work_added)
        if continue_id is not None:
            added.append(
                WorkRow(
                    tenant=tenant,
                    id=continue_id,
                    kind=WorkKind.CONTINUE,
                    queue=home_queue(tenant, live.home),
                    instance_id=live.id,
                    created=now,
                    content=content,
                )
            )
        if live.parent_id is not None and "#" in live.parent_id:  # Otherwise no bookmark waits for it.
            if live.status.at_rest and not before.at_rest:
                added.append(work_rows.ended(tenant, live, now))
            elif begun:
                added.append(work_rows.begun(tenant, live, now))
        added += [work_rows.start(tenant, live, start, now) for start in starts]
        for number, event in enumerate(live.published):
            if not event["local"]:
                row_id = f"{live.id}.e{before.version + 1}.{number}"
                added.append(work_rows.stimulus(tenant, work_rows.published(live, row_id, event), now))
        if left:
            added += [work_rows.cancel(tenant, child, live.stopping, now) for child in left]
            rows["work_dropped"] = (*rows.get("work_dropped", ()), *map(work_rows.start_id, left))
        if consumed.work_dropped:
            rows["work_dropped"] = (*rows.get("work_dropped", ()), *consumed.work_dropped)
        if added:
            rows["work_added"] = (*rows.get("work_added", ()), *added)

    def _add_canceled(self, rows: dict[str, Any], live: LiveInstance) -> None:
        """Rows of effects that finalizers wait for stay until the end of the effect (rule M1); the others are deleted. So are
        the tickets of steps that no worker has claimed."""
        canceled, ending = live.canceled_effects, live.ending
        rows["effects_dropped"] = tuple([key for key in canceled if key not in ending])
        rows["effects_canceled"] = tuple([key for key in canceled if key in ending])
        tickets = [step_id(live.id, key, item.attempt) for key, item in canceled.items() if self._is_step(live, item)]
        if tickets:
            rows["work_dropped"] = (*rows.get("work_dropped", ()), *tickets)

    def _is_step(self, live: LiveInstance, request: EffectRequest) -> bool:
        node = live.plan.by_key.get(request.activity_id)
        return self._placement.rows and node is not None and bool(self._placement.of(node, live.home).queue)

    def _effect(self, tenant: str, live: LiveInstance, request: EffectRequest, now: datetime) -> EffectRow:
        node = live.plan.by_key[request.activity_id]
        queue, here = HELD if request.held else self._placement.of(node, live.home)
        begins = now if request.delay is None else now + request.delay
        return EffectRow(
            live.id,
            request.execution_id,
            request.activity_id,
            node.definition.type,
            begins,
            request.attempt,
            self._membership.owner if here else NO_OWNER,
            queue and queue_of(tenant, queue),
            _ON_LOST[node.options.on_lost],
            None if node.timeout is None else begins + node.timeout,
            encode_payload(request.inputs, live.plan.types),
            tenant,
        )

    def _add_incidents(self, tenant: str, rows: dict[str, Any], live: LiveInstance, before: Baseline) -> None:
        open_ones = {item.id for item in live.incidents}
        rows["incidents_added"] = tuple(
            self._incident(tenant, live, item) for item in live.incidents if item.id not in before.incidents
        )
        rows["incidents_resolved"] = tuple(before.incidents - open_ones)

    @staticmethod
    def _incident(tenant: str, live: LiveInstance, item: Incident) -> IncidentRow:
        payload = {
            "message": item.message,
            "source": item.source,
            "details": dict(item.details),
            "activity_type": item.activity_type,
            "activity_name": item.activity_name,
            "execution_id": item.execution_id,
            "attempt": item.attempt,
        }
        return IncidentRow(
            tenant=tenant,
            instance_id=live.id,
            id=item.id,
            kind=item.type,
            activity_id=item.activity_id or "",
            occurred=item.at,
            payload=encode_payload(payload, live.plan.types),
        )


def _state_after(live: LiveInstance) -> Packed:
    """The state for the next burst: journal and published events leave with this commit. `live` still has them."""
    base, published = live.journal_base, live.published
    live.journal_base += len(live.journal)
    if published:
        live.published = [event for event in published if event["local"]]
    try:
        return encode_state(live)
    finally:
        live.journal_base, live.published = base, published


def _fresh_effects(live: LiveInstance) -> list[EffectRequest]:
    """Effects that this burst recorded and that no later job of the burst canceled."""
    return [item for item in live.new_effects if live.effects.get(item.execution_id) is item]
