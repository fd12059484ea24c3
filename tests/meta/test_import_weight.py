"""`import holdfast` stays light: servers, brokers, databases and interpreters come when they are used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "aio_pika", "aiohttp", "alembic", "asyncmy", "asyncpg", "celery", "click", "fastapi", "greenlet", "jinja2",
    "liquid", "nats", "numpy", "opentelemetry", "prometheus_client", "pydantic", "quickjs", "redis", "rich",
    "sqlalchemy", "sqlite3", "starlette", "structlog", "uvicorn", "uvloop", "websockets",
}  # fmt: skip


def loaded_after(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    loaded = loaded_after("import holdfast")

    assert "holdfast" in loaded
    assert not loaded & HEAVY


def test_not_even_the_whole_public_api_loads_something_heavy() -> None:
    loaded = loaded_after("from holdfast import *\nfrom holdfast.activities import *\nfrom holdfast.api import *")

    assert "holdfast.engine" in loaded
    assert not loaded & HEAVY


def test_an_engine_that_runs_no_script_loads_no_interpreter() -> None:
    loaded = loaded_after("import holdfast\nholdfast.Holdfast(entry_points=False)")

    assert not loaded & HEAVY
