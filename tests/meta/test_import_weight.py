"""`import holdfast` stays light: servers, brokers, databases and interpreters come when they are used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "aio_pika", "aiohttp", "alembic", "asyncmy", "asyncpg", "celery", "click", "fastapi", "greenlet", "jinja2",
    "liquid", "nats", "numpy", "opentelemetry", "prometheus_client", "pydantic", "quickjs", "redis", "rich",
    "sqlalchemy", "sqlite3", "starlette", "structlog", "uvicorn", "uvloop", "websockets",
}  # fmt: skip


def test_import_loads_nothing_heavy() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import sys, holdfast; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(listed.stdout.split())

    assert "holdfast.errors" in loaded
    assert not loaded & HEAVY
