"""Empty databases of every durable store that is at hand: SQLite always, PostgreSQL and MySQL if a server answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.services.availability import ServiceMissing
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database


@contextmanager
def every_store() -> Iterator[dict[str, tuple[str, Path]]]:
    """The URL of each store, and a folder of its own, by the name of the store."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        urls = {"sqlite": f"sqlite:///{Path(folder) / 'chaos.db'}"}
        for kind, make in (("postgresql", postgres_database), ("mysql", mysql_database)):
            try:
                urls[kind] = stack.enter_context(make())
            except ServiceMissing:
                continue
        for kind in urls:
            (Path(folder) / kind).mkdir()
        yield {kind: (url, Path(folder) / kind) for kind, url in urls.items()}
