"""Every scenario on every store with every carrier of steps: the tests of `tests/integration/scenarios`, in all scenes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree as ET

from tests.integration.scenarios.conftest import CARRIERS, SCENES, STORES

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 3_600
"""Seconds."""
REASON_MAX = 200
"""Characters of the reason of a failure."""


def matrix_row() -> dict[str, Any]:
    """One row for chaos.json: per cell how many scenarios passed, failed, were left out for want of a service."""
    with TemporaryDirectory() as folder:
        told = Path(folder) / "told.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "-p",
            "no:cacheprovider",
            "tests/integration/scenarios",
        ]
        done = subprocess.run(
            [*command, f"--junitxml={told}"],
            cwd=ROOT,
            env={**os.environ, SCENES: "all"},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if not told.exists():
            return {"sound": False, "broken": [f"pytest ended with {done.returncode}: {done.stdout[-2000:]}"]}
        return row_of(told.read_text(encoding="utf-8"))


def row_of(xml: str) -> dict[str, Any]:
    cells: dict[str, dict[str, int]] = {}
    broken: list[str] = []
    for scene, test, outcome, reason in _outcomes(xml):
        cell = cells.setdefault(scene, {"passed": 0, "failed": 0, "left_out": 0})
        cell[outcome] += 1
        if outcome == "failed":
            broken.append(f"{test} on {scene}: {reason}")
    total = {name: sum(cell[name] for cell in cells.values()) for name in ("passed", "failed", "left_out")}
    return {**total, "cells": dict(sorted(cells.items())), "sound": bool(cells) and not broken, "broken": broken}


def _outcomes(xml: str) -> Iterator[tuple[str, str, str, str]]:
    """Scene, test, what became of it, and why."""
    for case in ET.fromstring(xml).iter("testcase"):
        test, _, rest = case.attrib["name"].partition("[")
        found = next((name for name in sorted(_scene_names(), key=len, reverse=True) if name in rest), None)
        if found is None:
            continue  # It needs no scene.
        told = {child.tag: child.attrib.get("message", "") for child in case}
        reason = told.get("failure") or told.get("error") or ""
        outcome = "failed" if told.keys() & {"failure", "error"} else "left_out" if "skipped" in told else "passed"
        yield found, test, outcome, " ".join(reason.split())[:REASON_MAX]


def _scene_names() -> list[str]:
    return [f"{store}-{carrier}" for store in STORES for carrier in CARRIERS]
