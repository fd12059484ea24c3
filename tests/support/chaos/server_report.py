"""Report of the chaos test of the server: the store, the ledger and the answers to the customers, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.engine import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.listing import InstanceQuery, InstanceSort
from holdfast.model.work import WorkKind
from holdfast.persistence import store_from_url
from tests.support.chaos import server_workflows as work
from tests.support.chaos.cluster_workflows import Ledger, book
from tests.support.chaos.contention import ChaosReport

if TYPE_CHECKING:
    from tests.support.chaos.server_chaos import Heard

MANY = 1_000_000


async def compared(url: str, folder: Path, heard: Heard, kills: int, crashes: int) -> ChaosReport:
    store = store_from_url(url)
    await store.open()
    engine = Holdfast(entry_points=False, activities=[book], definitions=[work.checkout, work.ticket])
    try:
        async with engine.runtime_on(store, node="evidence") as runtime:
            return await _report(runtime, folder, heard, kills, crashes)
    finally:
        await store.close()
        engine.close()


async def _report(runtime: ManagedRuntime, folder: Path, heard: Heard, kills: int, crashes: int) -> ChaosReport:
    store = runtime.store
    items = (await store.search(InstanceQuery(sort=InstanceSort.ID, descending=False, limit=MANY))).items
    checkouts = {item.id for item in items if item.definition_id == work.checkout.definition.id}
    tickets = {item.id for item in items if item.definition_id == work.ticket.definition.id}
    told_of = [*heard.starts.values(), *heard.tickets.values()]
    known = {name for names in told_of for name in names}
    lost = [f"lost {name}" for name in sorted(known - checkouts - tickets)]
    twice = [f"one key, two instances: {sorted(names)}" for names in told_of if len(names) > 1]
    twice += [f"no customer requested {name}" for name in sorted((checkouts | tickets) - known)]
    expected = {f"{name}.{what}" for name in checkouts for what in work.OF_CHECKOUT}
    expected |= {f"{name}.{what}" for name in tickets for what in work.OF_TICKET}
    lost += [f"not in the ledger: {entry}" for entry in sorted(expected - Ledger(folder).entries)]
    attempts = Counter((call.key, call.attempt) for call in Ledger(folder).calls)
    twice += [f"attempt {number} twice: {key}" for (key, number), times in attempts.items() if times > 1]
    violations: list[str] = []
    for item in items:
        violations += await _one(runtime, item.id, heard)
    violations += [f"stuck {key.id}" for key in await store.find_stuck(10)]
    violations += [f"dead letter {letter.work.id}" for letter in await store.list_dead_letters("")]
    return ChaosReport(
        kills=kills,
        db_crashes=crashes,
        bursts=sum(item.version for item in items),
        acknowledged=len(known) + len(heard.paid) + len(heard.packed),
        lost=len(lost),
        duplicated=len(twice),
        violations=tuple(violations),
        evidence=(*lost, *twice),
    )


async def _one(runtime: ManagedRuntime, name: str, heard: Heard) -> list[str]:
    result = await runtime.read(name)
    journal = await runtime.journal(name, limit=MANY)
    export = await runtime.store.export_instance("", name)
    assert export is not None
    work_left = [row for row in export.work if row.kind != WorkKind.UNREAD]  # A look at its inbox, a minute later.
    ends = sum(entry.event is JournalEvent.INSTANCE_FINISHED for entry in journal)
    results = Counter(entry.execution_id for entry in journal if entry.event is JournalEvent.EFFECT_RESULT)
    variables: Mapping[str, Any] = result.variables
    checks = {
        f"is {result.status}: {[item.message for item in result.incidents]}": result.status is Status.FINISHED,
        f"ended {ends} times": ends == 1,
        "has an effect with two results": max(results.values(), default=0) <= 1,
        "has a gap in its journal": [entry.sequence for entry in journal] == list(range(len(journal))),
        "has rows left": not (export.bookmarks or work_left or export.effects),
        "was paid otherwise": variables.get("token", "") == heard.paid.get(name, ""),
        "was packed otherwise": variables.get("answer") == heard.packed.get(name),
    }
    return [f"{name} {what}" for what, holds in checks.items() if not holds]
