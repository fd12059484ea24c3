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

LOOKED_AT = 200
"""Instances that wait, the latest first."""
NEAR_MAX = 10


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
    """What is compared first: a hash of type and payload, the same on every machine."""
    explanation: Explanation
    near: tuple[Near, ...] = ()
    """Nearest first."""

    @property
    def advice(self) -> str:
        told = self.explanation
        if told.starts or told.resumes:
            return f"It starts {len(told.starts)} definition(s) and resumes {len(told.resumes)} bookmark(s)."
        kept = f"It would be kept for {told.kept}." if told.kept else "It would be forgotten."
        if not self.near:
            return f"Nothing waits for anything like it. {kept}"
        field = self.near[0].differs[0].path if self.near[0].differs else "nothing"
        return f"Nothing matches; the nearest {self.near[0].kind} differs in '{field}'. {kept}"


class _Asked(Struct, frozen=True, kw_only=True):
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
    """`name` and `key` are those of an event; other stimuli are matched by their payload."""
    if type == EVENT and name is None and isinstance(payload, Mapping) and isinstance(payload.get("event_name"), str):
        name, key = payload["event_name"], payload.get("key", key)
    explanation = await runtime.stimuli.explain(
        type, payload, name=name, key=key, correlation_id=correlation_id, instance_id=instance_id
    )
    compared = payload if name is None else {"event_name": name, **({} if key is None else {"key": key})}
    asked = _Asked(type=type, payload=compared, correlation_id=correlation_id, instance_id=instance_id)
    woken = set(explanation.resumes)
    found = [
        item
        for item in [*[near async for near in _bookmarks(runtime, asked, woken)], *await _triggers(runtime, asked)]
        if item.differs
    ]
    found.sort(key=lambda item: (len(item.differs), any(part.path == "type" for part in item.differs)))
    return Diagnosis(
        key=f"{key_of(type, compared) & (2**64 - 1):016x}",
        explanation=explanation,
        near=tuple(found[:NEAR_MAX]),
    )


async def _triggers(runtime: ManagedRuntime, asked: _Asked) -> list[Near]:
    if asked.instance_id is not None:
        return []  # triggers know no instances
    return [
        Near(
            kind="trigger",
            type=item.type,
            payload=item.payload,
            definition_id=item.definition_id,
            activity_id=item.activity_id,
            differs=tuple(_differences(asked, item.type, item.payload)),
        )
        for item in await runtime.triggers.list()
        if _alike(asked.type, item.type)
    ]


async def _bookmarks(runtime: ManagedRuntime, asked: _Asked, woken: set[str]) -> Any:
    names = [asked.instance_id] if asked.instance_id is not None else await _waiting(runtime)
    for instance_id in names:
        for row in await runtime.store.bookmarks_of(runtime.tenant, instance_id):
            if not _alike(asked.type, row.type) or f"{row.instance_id}#b{row.seq}" in woken:
                continue
            payload = _read(row)
            differs = [*_differences(asked, row.type, payload), *_addresses(asked, row)]
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
            filter=InstanceFilter(statuses=("suspended", "running")),
            sort=InstanceSort.UPDATED,
            limit=LOOKED_AT,
        )
    )
    return [row.id for row in page.items]


def _alike(given: str, other: str) -> bool:
    return given == other or bool(difflib.get_close_matches(given.lower(), [other.lower()], n=1, cutoff=0.75))


def _read(row: BookmarkRow) -> Any:
    try:
        return read_payload(row.payload)
    except HoldfastError:  # a value of a class that this process does not know
        return "(not readable here)"


def _differences(asked: _Asked, type: str, payload: Any) -> Iterator[Difference]:
    if asked.type != type:
        yield Difference(path="type", waits_for=type, given=asked.type)
    yield from _compared("payload", payload, asked.payload)


def _compared(path: str, waits_for: Any, given: Any) -> Iterator[Difference]:
    if isinstance(waits_for, Mapping) and isinstance(given, Mapping):
        for name in dict.fromkeys((*waits_for, *given)):
            yield from _compared(f"{path}.{name}", waits_for.get(name), given.get(name))
    elif waits_for != given or waits_for.__class__ is not given.__class__:
        yield Difference(path=path, waits_for=waits_for, given=given)


def _addresses(asked: _Asked, row: BookmarkRow) -> Iterator[Difference]:
    if asked.correlation_id is not None and row.correlation != correlation_key(asked.correlation_id):
        yield Difference(path="correlation_id", waits_for="another one", given=asked.correlation_id)
