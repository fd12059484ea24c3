"""Migrations: numbered, forward only, plain SQL, one folder per dialect. `schema.sql` is the result of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from importlib.resources import files

from msgspec import Struct

from holdfast.errors import SchemaMismatch
from holdfast.model.upkeep import MigrationReport

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")

TABLE = "hf_migration"


class Migration(Struct, frozen=True, kw_only=True):
    number: int
    name: str
    text: str

    @property
    def label(self) -> str:
        return f"{self.number:04}_{self.name}"

    @property
    def checksum(self) -> str:
        return blake2b(self.text.encode(), digest_size=8).hexdigest()

    @property
    def statements(self) -> list[str]:
        return statements_of(self.text)


def statements_of(text: str) -> list[str]:
    """Split a file into statements. A semicolon at the end of a line ends one; lines that begin with -- are comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).replace(";\n", ";\n\0").split("\0") if part.strip()]


def migrations_of(dialect: str) -> list[Migration]:
    found = []
    for item in files(__name__).joinpath(dialect).iterdir():
        match = _FILE.fullmatch(item.name)
        if match:
            text = item.read_text(encoding="utf-8")
            found.append(Migration(number=int(match[1]), name=match[2], text=text))
    return sorted(found, key=lambda migration: migration.number)


def pending_after(applied: Sequence[tuple[int, str]], known: Sequence[Migration]) -> list[Migration]:
    """Migrations that are not applied yet, given (number, checksum) of the applied ones. Refuses an unknown schema."""
    checksums = {migration.number: migration for migration in known}
    for number, checksum in sorted(applied):
        if number not in checksums:
            newest = max(checksums, default=0)
            raise SchemaMismatch(
                f"The database has schema {number}, this version of Holdfast knows schemas up to {newest}. "
                "Upgrade Holdfast on this machine, or use another database."
            )
        if checksums[number].checksum != checksum:
            raise SchemaMismatch(
                f"Migration {checksums[number].label} was applied with other content than it has in this version. "
                "Use the version of Holdfast that created the schema, or a new database."
            )
    done = {number for number, _ in applied}
    return [migration for migration in known if migration.number not in done]


def check_current(pending: Sequence[Migration], newest_applied: int) -> None:
    """Refuse a schema that is older than the code."""
    if pending:
        raise SchemaMismatch(
            f"The database has schema {newest_applied}, this version of Holdfast needs {pending[-1].number}. "
            "Run: holdfast migrate"
        )


def report_of(
    applied: Sequence[tuple[int, str]], pending: Sequence[Migration], now_applied: Sequence[Migration] = ()
) -> MigrationReport:
    numbers = [number for number, _ in applied] + [migration.number for migration in now_applied]
    return MigrationReport(
        schema=max(numbers, default=0),
        pending=tuple(migration.label for migration in pending if migration not in now_applied),
        applied=tuple(migration.label for migration in now_applied),
    )
