"""Diagnosis of a stimulus: its key, its matches, and the fields that differ in near matches."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from holdfast.errors import HoldfastError
from holdfast.management.payloads import read_payload
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.requests import EVENT
from holdfast.model.stored import BookmarkRow, correlation_key
from holdfast.model.wake_keys import key_of
from holdfast.runtime.dispatchers.stimulus_sender import Explanation

SEARCHED_MAX = 200
"""Waiting instances that are searched for near matches, the latest first."""
NEAR_MAX = 10
"""Near matches that a diagnosis lists."""


class Difference(Struct, frozen=True, kw_only=True):
    path: str
    """A field of the payload; `type`, `correlation_id` or `instance_id`."""
    waits_for: Any = None
    given: Any = None


class Near(Struct, frozen=True, kw_only=True):
    kind: str
    """`trigger` or `bookmark`."""
    type: str
    payload: Any
    definition_id: str | None = None
    instance_id: str | None = None
    activity_id: str = ""
    differs: tuple[Difference, ...] = ()


class Diagnosis(Struct, frozen=True, kw_only=True):
    key: str
    """The wake key: a hash of type and payload, the same on every machine."""
    explanation: Explanation
    near: tuple[Near, ...] = ()
    """Nearest first."""

    @property
    def advice(self) -> str:
        effect = self.explanation
        if effect.starts or effect.resumes:
            return f"It starts {len(effect.starts)} definition(s) and resumes {len(effect.resumes)} bookmark(s)."
        kept = f"It would be kept for {effect.kept}." if effect.kept else "It would be dropped."
        if not self.near:
            return f"No trigger or bookmark is similar to it. {kept}"
        field = self.near[0].differs[0].path if self.near[0].differs else "nothing"
        return f"Nothing matches; the nearest {self.near[0].kind} differs in '{field}'. {kept}"


class _Sent(Struct, frozen=True, kw_only=True):
    type: str
    payload: Any
    correlation_id: str | None
    instance_id: str | None


async def diagnose(
    runtime: ManagedRuntime,
    type: str,
    payload: Any = None,
    *,
    name: str | None = None,
    key: Any = None,
    correlation_id: str | None = None,
    instance_id: str | None = None,
) -> Diagnosis:
    """Diagnose a stimulus. `name` and `key` belong to an event; other stimuli are matched by their payload."""
    if type == EVENT and name is None and isinstance(payload, Mapping) and isinstance(payload.get("event_name"), str):
        name, key = payload["event_name"], payload.get("key", key)
    explanation = await runtime.stimuli.explain(
        type, payload, name=name, key=key, correlation_id=correlation_id, instance_id=instance_id
    )
    compared = payload if name is None else {"event_name": name, **({} if key is None else {"key": key})}
    sent = _Sent(type=type, payload=compared, correlation_id=correlation_id, instance_id=instance_id)
    woken = set(explanation.resumes)
    found = [
        item
        for item in [*[near async for near in _bookmarks(runtime, sent, woken)], *await _triggers(runtime, sent)]
        if item.differs
    ]
    found.sort(key=lambda item: (len(item.differs), any(part.path == "type" for part in item.differs)))
    return Diagnosis(
        key=f"{key_of(type, compared) & (2**64 - 1):016x}",
        explanation=explanation,
        near=tuple(found[:NEAR_MAX]),
    )


async def _triggers(runtime: ManagedRuntime, sent: _Sent) -> list[Near]:
    if sent.instance_id is not None:
        return []  # Triggers have no instance.
    return [
        Near(
            kind="trigger",
            type=item.type,
            payload=item.payload,
            definition_id=item.definition_id,
            activity_id=item.activity_id,
            differs=tuple(_differences(sent, item.type, item.payload)),
        )
        for item in await runtime.triggers.list()
        if _alike(sent.type, item.type)
    ]


async def _bookmarks(runtime: ManagedRuntime, sent: _Sent, woken: set[str]) -> Any:
    names = [sent.instance_id] if sent.instance_id is not None else await _waiting(runtime)
    for instance_id in names:
        for row in await runtime.store.bookmarks_of(runtime.tenant, instance_id):
            if not _alike(sent.type, row.type) or f"{row.instance_id}#b{row.seq}" in woken:
                continue
            payload = _read(row)
            differs = [*_differences(sent, row.type, payload), *_addresses(sent, row)]
            yield Near(
                kind="bookmark",
                type=row.type,
                payload=payload,
                instance_id=row.instance_id,
                activity_id=row.activity_id,
                differs=tuple(differs),
            )


async def _waiting(runtime: ManagedRuntime) -> list[str]:
    page = await runtime.store.search(
        InstanceQuery(
            tenant=runtime.tenant,
            filter=InstanceFilter(statuses=("suspended", "running", "canceling")),
            sort=InstanceSort.UPDATED,
            limit=SEARCHED_MAX,
        )
    )
    return [row.id for row in page.items]


def _alike(given: str, other: str) -> bool:
    return given == other or bool(difflib.get_close_matches(given.lower(), [other.lower()], n=1, cutoff=0.75))


def _read(row: BookmarkRow) -> Any:
    try:
        return read_payload(row.payload)
    except HoldfastError:  # The class of a value is unknown in this process.
        return "(not readable here)"


def _differences(sent: _Sent, type: str, payload: Any) -> Iterator[Difference]:
    if sent.type != type:
        yield Difference(path="type", waits_for=type, given=sent.type)
    yield from _compared("payload", payload, sent.payload)


def _compared(path: str, waits_for: Any, given: Any) -> Iterator[Difference]:
    if isinstance(waits_for, Mapping) and isinstance(given, Mapping):
        for name in dict.fromkeys((*waits_for, *given)):
            yield from _compared(f"{path}.{name}", waits_for.get(name), given.get(name))
    elif waits_for != given or waits_for.__class__ is not given.__class__:
        yield Difference(path=path, waits_for=waits_for, given=given)


def _addresses(sent: _Sent, row: BookmarkRow) -> Iterator[Difference]:
    if sent.correlation_id is not None and row.correlation != correlation_key(sent.correlation_id):
        yield Difference(path="correlation_id", waits_for="another one", given=sent.correlation_id)
