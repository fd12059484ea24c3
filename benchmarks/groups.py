"""All groups, in the order in which `make bench` runs and prints them. Add new groups here."""

from __future__ import annotations

from benchmarks import (
    activities,
    dbos_ratio,
    events,
    expressions,
    functions,
    growth,
    growth_state,
    imports,
    open_definitions,
    plain_python,
    spiff,
    store_effects,
    store_loops,
    store_queue,
    store_reads,
    store_resumes,
    store_space,
    store_starts,
    timers,
)
from benchmarks.figures import Group

GROUPS: tuple[Group, ...] = (
    activities.GROUP,
    functions.GROUP,
    expressions.GROUP,
    plain_python.GROUP,
    growth.GROUP,
    spiff.GROUP,
    imports.GROUP,
    open_definitions.GROUP,
    *store_starts.GROUPS,
    *store_resumes.GROUPS,
    store_effects.GROUP,
    store_loops.GROUP,
    events.GROUP,
    growth_state.GROUP,
    *store_queue.GROUPS,
    *store_reads.GROUPS,
    *store_space.GROUPS,
    *timers.GROUPS,
    *dbos_ratio.GROUPS,
)
