"""Settings and fixtures of all tests: hypothesis profiles, the repository root, databases on real servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.services.availability import Needed
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database

# `suite` gives every machine the same examples, so that a failure can be looked at twice; `search` looks for new ones.
# Neither limits the time of an example: other work on the machine is not a fault of the code.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HOLDFAST_TEST_PROFILE", "suite"))


SERVICE_FIXTURES = {"postgres": "postgres", "fresh_postgres": "postgres", "mysql": "mysql"}
"""Fixtures that need a server, with the name of its service."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that uses a fixture with a server, so that `-m "not service"` deselects it."""
    for item in items:
        for fixture in SERVICE_FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.service(SERVICE_FIXTURES[fixture]))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """An empty PostgreSQL database for the tests of a module."""
    with Needed("postgres"), postgres_database() as url:
        yield url


@pytest.fixture
def fresh_postgres() -> Iterator[str]:
    """An empty PostgreSQL database for one test."""
    with Needed("postgres"), postgres_database() as url:
        yield url


@pytest.fixture(scope="module")
def mysql() -> Iterator[str]:
    """An empty MySQL or MariaDB database for the tests of a module."""
    with Needed("mysql"), mysql_database() as url:
        yield url


@pytest.fixture
def fresh_mysql() -> Iterator[str]:
    """An empty MySQL or MariaDB database for one test."""
    with Needed("mysql"), mysql_database() as url:
        yield url
