"""Migration of a flowchart's state to another version of the chart: visits and tokens are matched by activity id.

New activities start without visits. A join with a new inbound connection waits for it. If nothing can arrive there, the
instance raises the incident `stuck`, and an operator schedules the missing activity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.activities.control.flowchart.counter import BACKWARD, COUNTS, FOLLOWED, QUEUED, VISITS, WORKING
from holdfast.activities.control.flowchart.routes import Routes
from holdfast.activities.control.flowchart.token import CONNECTION, TOKENS, WORKING as TOKENS_WORKING

Way = tuple[str, str | None, str]
"""Source, outcome, target."""


class Layout(NamedTuple):
    """Ids of the positions in a flowchart's data."""

    activities: list[str]
    ways: list[Way]


def layout_of(routes: Routes) -> Layout:
    ways = [(way.source, way.outcome, way.target) for way in routes.graph.connections]
    return Layout(list(routes.ids), ways)


def carry(data: list[Any], old: Layout, new: Layout, names: Callable[[str], str]) -> list[Any]:
    activities = {names(name): position for position, name in enumerate(old.activities)}
    ways = {(names(source), outcome, names(target)): at for at, (source, outcome, target) in enumerate(old.ways)}
    came_from = [activities.get(name) for name in new.activities]
    way_from = [ways.get(way) for way in new.ways]
    if len(data) == 2:
        return _tokens(data, way_from)
    moved: list[Any] = [None] * len(data)
    moved[VISITS] = [0 if at is None else data[VISITS][at] for at in came_from]
    moved[COUNTS] = [0 if at is None else data[COUNTS][at] for at in way_from]
    moved[FOLLOWED] = [False if at is None else data[FOLLOWED][at] for at in way_from]
    moved[WORKING] = data[WORKING]
    moved[BACKWARD] = {
        str(position): data[BACKWARD][str(at)]
        for position, at in enumerate(came_from)
        if at is not None and str(at) in data[BACKWARD]
    }
    moved[QUEUED] = [position for position, at in enumerate(came_from) if at is not None and at in data[QUEUED]]
    return moved


def _tokens(data: list[Any], way_from: list[int | None]) -> list[Any]:
    there = {at: position for position, at in enumerate(way_from) if at is not None}
    tokens = [[there[token[CONNECTION]], *token[1:]] for token in data[TOKENS] if token[CONNECTION] in there]
    moved: list[Any] = [None, None]
    moved[TOKENS], moved[TOKENS_WORKING] = tokens, data[TOKENS_WORKING]
    return moved
