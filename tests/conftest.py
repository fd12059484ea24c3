"""What holds for every test: how hypothesis searches, and a repository root to look at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `suite` gives every machine the same examples, so that a failure can be looked at twice; `search` looks for new ones.
# Neither limits the time of an example: other work on the machine is not a fault of the code.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HOLDFAST_TEST_PROFILE", "suite"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent
