"""The result file: one flat object of figures, with facts about the run and the machine under `meta.`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import FACTS

LATEST = Path(__file__).resolve().parent / "results" / "latest.json"
PACKAGES = ("holdfast", "msgspec", "quickjs-ng", "python-liquid", "asyncpg")


def meta(effort: Effort) -> dict[str, Any]:
    """Commit, time, machine, versions and settings of a run."""
    return {
        "meta.commit": _commit(),
        "meta.time": datetime.now(UTC).isoformat(timespec="seconds"),
        "meta.machine": f"{_processor()}, {os.cpu_count()} cores",
        "meta.system": f"{platform.system()} {platform.machine()}",
        "meta.load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "meta.python": f"{platform.python_implementation()} {platform.python_version()}",
        **{f"meta.versions.{name}": _version(name) for name in PACKAGES},
        "meta.settings.rounds": effort.rounds,
        "meta.settings.journal": "default",
        "meta.settings.telemetry": "off",
        **{f"meta.{name}": value for name, value in FACTS.items()},
    }


def _commit() -> str:
    """The commit, with `+` if files differ from it."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    here = Path(__file__).resolve().parent
    done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# -- the file ----------------------------------------------------------------------------------------------------------


def rounded(value: float) -> float:
    """Three significant digits: more would be noise."""
    return float(f"{value:.3g}") if abs(value) < 1_000 else float(round(value))


def stamps(groups: Iterable[Group]) -> dict[str, Any]:
    """Time, commit and machine load of each group: groups may be measured separately, while the other facts are those of the
    last run."""
    now = meta(Effort())
    stamp = f"{now['meta.time']}, commit {now['meta.commit']}, load {now['meta.load']}"
    return {f"meta.measured.{group.name}": stamp for group in groups}


def merged(kept: Mapping[str, Any], groups: Iterable[Group], values: Mapping[str, float]) -> dict[str, Any]:
    """The contents of the file with new figures for these groups; figures that were not measured are removed."""
    old = {figure.name for group in groups for figure in group.figures}
    facts = {name: value for name, value in kept.items() if name.startswith("meta.")}
    return {name: value for name, value in kept.items() if name not in old and name not in facts} | {**values, **facts}


def write(path: Path, values: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Replaces the whole file: figures that were not measured are not in it."""
    flat = {
        name: rounded(value) if isinstance(value, float | int) and not name.startswith("meta.") else value
        for name, value in values.items()
    } | dict(facts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(flat, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# -- terminal output ---------------------------------------------------------------------------------------------------


def verdict(figure: Figure, value: float | None) -> str:
    if value is None or figure.goal is None:
        return ""
    return "yes" if figure.is_met(value) else "NO"


def table(figures: Sequence[Figure], values: Mapping[str, float]) -> str:
    """Figure, value, goal and verdict in columns, for a terminal."""
    rows = [("figure", "value", "goal", "met")]
    for figure in figures:
        value = values.get(figure.name)
        shown = "not measured" if value is None else f"{rounded(value):g}"
        rows.append((figure.name, shown, figure.goal_text, verdict(figure, value)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def warn(message: str) -> None:
    print(message, file=sys.stderr)
