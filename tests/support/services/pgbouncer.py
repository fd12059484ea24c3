"""PgBouncer in front of a PostgreSQL database, on the loopback interface. Raises `ServiceMissing` if it is not installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg  # type: ignore[import-untyped]  # untyped driver

from tests.support.services.availability import ServiceMissing, free_port

_START = 10.0
_NOBODY = 65534


@contextmanager
def pgbouncer(url: str, pool_mode: str) -> Iterator[str]:
    """The URL of the same database through a pooler."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise ServiceMissing("pgbouncer is not installed")
    parts, port = urlsplit(url), free_port()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pgbouncer-"))
    (folder / "users.txt").write_text(f'"{parts.username}" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={parts.hostname} port={parts.port or 5432}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\npool_mode = {pool_mode}\n"
        f"auth_type = trust\nauth_file = {folder}/users.txt\nlogfile = {folder}/log\n"
    )
    as_root = os.geteuid() == 0
    if as_root:  # PgBouncer refuses to run as root.
        for path in (folder, *folder.iterdir()):
            os.chown(path, _NOBODY, _NOBODY)
    process = subprocess.Popen(
        [program, "-q", str(folder / "pgbouncer.ini")], stderr=subprocess.DEVNULL, user=_NOBODY if as_root else None
    )
    pooled = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
    try:
        asyncio.run(_answers(pooled))
        yield pooled
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


async def _answers(url: str) -> None:
    async with asyncio.timeout(_START):
        while True:
            try:
                connection = await asyncpg.connect(url)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                await connection.close()
                return
