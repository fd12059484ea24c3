"""Generator of docs/benchmarks.md from the latest result file: `python -m benchmarks.page`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from inspect import getdoc, getmodule
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Group
from benchmarks.groups import GROUPS
from benchmarks.results import LATEST, read, verdict

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

<!-- Written by benchmarks/page.py from benchmarks/results/latest.json; `make bench` writes both anew. -->

`make bench` measures these figures and writes this page. `make bench GROUPS="python timers"` measures some groups; the
end of the page says when each group was measured. `python -m benchmarks engine.us_per_activity` measures single figures
and writes nothing.

All contenders of a comparison take turns in one run. A figure is the best of its turns, and garbage collection waits
until a turn is over. Work that never waits is measured in CPU time, which equals wall-clock time on an idle machine;
threads and fresh interpreters are measured in wall-clock time. Engine figures use the default journal, the real
sandboxed `$python`, no telemetry listener and no store. Tests never assert these figures: a shared machine may be twice
as slow.
"""


def page(results: Mapping[str, Any], groups: Iterable[Group] = GROUPS) -> str:
    parts = [HEAD, *(_section(group, results) for group in groups)]
    facts = [
        f"| {name.removeprefix('meta.')} | {value} |" for name, value in results.items() if name.startswith("meta.")
    ]
    parts.append("## Measured on\n\n" + "\n".join(["| fact | value |", "|---|---|", *facts]) + "\n")
    return "\n".join(parts)


def _section(group: Group, results: Mapping[str, Any]) -> str:
    """Section of a group, with the first paragraph of its module as introduction."""
    measure = group.measure.func if isinstance(group.measure, partial) else group.measure
    text = getdoc(getmodule(measure)) or ""
    summary = " ".join(text.partition("\n\n")[0].split())
    return f"## {group.name.capitalize()}\n\n{summary}\n\n{_rows(group.figures, results)}\n"


def _rows(figures: Iterable[Figure], results: Mapping[str, Any]) -> str:
    lines = ["| figure | value | goal | met | meaning |", "|---|---|---|---|---|"]
    for figure in figures:
        value = results.get(figure.name)
        shown = "not measured" if value is None else f"{value:g}"
        lines.append(
            f"| `{figure.name}` | {shown} | {figure.goal_text} | {verdict(figure, value)} | {figure.meaning} |"
        )
    return "\n".join(lines)


def write_page() -> None:
    PAGE.write_text(page(read(LATEST)), encoding="utf-8")


if __name__ == "__main__":
    write_page()
