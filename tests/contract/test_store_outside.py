"""A store from outside the tree: found by its entry point, held to the same contract by its own tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MODULE = '''
"""A third-party store: every call is delegated to a memory store."""
from holdfast.persistence.memory import MemoryStore


class OutsideStore:
    name = "outside"

    def __init__(self, url):
        self._behind = MemoryStore()
        self.transient = self._behind.transient
        self.calls = 0

    def __getattr__(self, name):
        self.calls += 1
        return getattr(self._behind, name)
'''

TESTS = """
import pytest
from holdfast.persistence import store_from_url
from holdfast.testing.store_contract import StoreContract


class TestOutsideStore(StoreContract):
    @pytest.fixture
    async def store(self):
        store = store_from_url("outside://anywhere")
        assert type(store).__module__ == "outside_store"
        await store.open()
        yield store
        assert store.calls > 1
        await store.close()
"""


def test_the_contract_runs_on_a_store_from_outside(tmp_path: Path) -> None:
    (tmp_path / "outside_store.py").write_text(MODULE)
    (tmp_path / "test_outside_store.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    package = tmp_path / "outside_store-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-store\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[holdfast.stores]\noutside = outside_store:OutsideStore\n")

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )

    assert ran.returncode == 0, ran.stdout
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) > 300
