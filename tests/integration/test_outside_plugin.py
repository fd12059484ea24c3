"""A plugin package from outside the tree: built, installed by pip, found by its entry point, used by a workflow in JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "holdfast-tides"
version = "1.0"

[project.entry-points."holdfast.plugins"]
tides = "holdfast_tides:TidePlugin"
"""

MODULE = '''
from holdfast import Context, activity
from holdfast.api import MiddlewarePlacement


class Tides:
    def height(self, harbour: str) -> float:
        return {"Cuxhaven": 2.9}[harbour]


@activity
async def high_water(harbour: str, context: Context) -> str:
    """The height of the next tide."""
    return f"{harbour}: {context.service(Tides).height(harbour)} m"


class Loud:
    """Wraps effects; writes where the user sees it."""

    async def around_effect(self, context, proceed):
        print("before", context.activity_id)
        await proceed()
        print("after", context.activity_id)


class TidePlugin:
    name = "tides"
    needs = ("holdfast",)

    def register(self, registration):
        registration.activity(high_water)
        registration.service(Tides, Tides())
        registration.middleware(MiddlewarePlacement(name="loud", middleware=Loud(), types=("high_water",)))
        registration.setting("tides_unit", str, "m", "What heights are given in.")
'''

WORKFLOW = {
    "id": "tide",
    "variables": [{"name": "line"}],
    "root": {
        "type": "Sequence",
        "activities": [
            {
                "id": "look",
                "type": "high_water",
                "inputs": {"harbour": "Cuxhaven"},
                "outputs": {"result": "line"},
            },
            {"type": "WriteLine", "inputs": {"text": {"$variable": "line"}}},
        ],
    },
}

PROGRAM = """
import asyncio, json, sys
from holdfast import Holdfast

engine = Holdfast()
print(*engine.registry.plugins)
result = asyncio.run(engine.runner.run(json.loads(sys.argv[1]), on_line=print))
print(result.status, engine.settings["tides_unit"])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package."""
    project = tmp_path_factory.mktemp("holdfast-tides")
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (project / "holdfast_tides.py").write_text(MODULE, encoding="utf-8")
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", target, project],
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    return target


def run(site: Path, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), **variables}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installed_plugin_is_there_without_a_line_of_code(site: Path) -> None:
    done = run(site, PROGRAM, json.dumps(WORKFLOW), HOLDFAST_TIDES_UNIT="feet")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "holdfast Holdfast(…) tides",
        "before look",
        "after look",
        "Cuxhaven: 2.9 m",
        "finished feet",
    ]


def test_two_packages_that_claim_the_same_activity_are_refused_by_name(site: Path) -> None:
    program = """
from holdfast import Holdfast, activity

@activity
async def high_water() -> None: ...

Holdfast(activities=[high_water])
"""
    done = run(site, program)

    assert done.returncode == 1
    assert (
        "PluginError: The activity type 'high_water (version 1)' is registered twice: by plugin 'Holdfast(…)' and by "
        "plugin 'tides'"
    ) in done.stderr
