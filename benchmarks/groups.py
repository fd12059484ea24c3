"""Every group, in the order in which `make bench` runs and prints them. Add yours here."""

from __future__ import annotations

from benchmarks import activities, expressions, functions, growth, imports, spiff
from benchmarks.figures import Group

GROUPS: tuple[Group, ...] = (
    activities.GROUP,
    functions.GROUP,
    expressions.GROUP,
    growth.GROUP,
    spiff.GROUP,
    imports.GROUP,
)
