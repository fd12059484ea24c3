"""`python -m benchmarks [FIGURE|GROUP]… [--rounds N] [--keep]`: a run of all figures is written to the result file.

With `--keep` the named groups replace their figures in the file and the others stay, because a full run takes long. Each group
has its own time, commit and machine load in the file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.figures import Effort, Group, UnknownFigure, Unmeasurable, chosen, matches
from benchmarks.groups import GROUPS
from benchmarks.page import write_page
from benchmarks.results import LATEST, merged, meta, read, stamps, table, warn, write


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parsed(arguments)
    effort = Effort(rounds=asked.rounds)
    try:
        groups = chosen(GROUPS, asked.figure)
    except UnknownFigure as error:
        warn(str(error))
        return 2
    values = measured(groups, effort)
    figures = [
        figure
        for group in groups
        for figure in group.figures
        if not asked.figure or any(matches(figure, group, name) for name in asked.figure)
    ]
    print(table(figures, values))
    if asked.keep or not asked.figure:
        kept = merged(read(LATEST), groups, values) if asked.keep else values
        write(LATEST, kept, meta(effort) | stamps(groups))
        write_page()
    return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Holdfast.")
    parser.add_argument("figure", nargs="*", help="figures or groups to measure; default: all")
    parser.add_argument("--rounds", type=int, default=Effort().rounds, help="turns of each contender")
    parser.add_argument("--keep", action="store_true", help="write the named groups and keep the rest of the file")
    return parser.parse_args(arguments)


def measured(groups: Sequence[Group], effort: Effort) -> dict[str, float]:
    """The measured values. A group that cannot be measured is reported on stderr and left out."""
    values: dict[str, float] = {}
    for group in groups:
        warn(f"Measuring {group.name} …")
        try:
            values.update(group.measure(effort))
        except Unmeasurable as error:
            warn(f"{group.name}: not measured. {error}")
        except Exception as error:  # noqa: BLE001 - a broken group must not lose the figures of the others
            warn(f"{group.name}: not measured, because of an error: {error!r}")
    return values


if __name__ == "__main__":
    sys.exit(main())
