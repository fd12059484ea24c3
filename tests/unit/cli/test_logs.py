"""What the log of a server must not hold."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from holdfast.cli.logs import set_up_logs
from holdfast.settings import Settings


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """A server that ran in this process may have configured the loggers of uvicorn."""
    root, server = logging.getLogger(), logging.getLogger("uvicorn.error")
    before = root.handlers[:], root.level, server.level
    above = logging.getLogger("uvicorn")
    propagates = above.propagate, server.propagate
    above.propagate = server.propagate = True
    yield
    above.propagate, server.propagate = propagates
    root.handlers[:], level, server_level = before
    root.setLevel(level)
    server.setLevel(server_level)


@pytest.mark.parametrize("form", ["text", "json"])
def test_credentials_in_an_address_are_left_out(capsys: pytest.CaptureFixture[str], form: str) -> None:
    end = set_up_logs(Settings(), form, "debug")
    logger = logging.getLogger("uvicorn.error")

    logger.info('%s - "WebSocket %s" [accepted]', "127.0.0.1:1", "/api/live?token=hfk_very-secret")
    logger.info("GET /api/bookmarks/resume?a=1&t=c2VjcmV0.signed HTTP/1.1")
    logger.debug("< x-api-key: hfk_very-secret")
    logger.info("asked for 100%% of %s", "it")
    end()

    told = capsys.readouterr().err
    assert "secret" not in told
    assert "signed" not in told
    assert "/api/live?token=" in told
    assert "asked for 100% of it" in told
