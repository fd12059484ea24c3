"""Base class of the parts of a SQL store: dialect, codec, clock, and a driver that runs scripts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from holdfast.model.changes import NO_TOPIC, Change
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.tables import micros, moment
from holdfast.ports import Codec

T = TypeVar("T")

VISIBLE = "(i.expires is null or i.expires > ?) and i.due <= ?"
"""Condition of inbox rows that are neither expired nor still delayed; its parameters are twice the time."""
_ADDRESSED = f"select 1 from hf_inbox i where i.tenant = ? and i.address = ? and {VISIBLE} limit 1"  # noqa: S608 - our text


def system_now() -> datetime:
    return datetime.now(UTC)


class SqlStoreBase(ABC):
    def __init__(self, dialect: Dialect, codec: Codec, now: Callable[[], datetime] = system_now) -> None:
        self._dialect = dialect
        self._codec = codec
        self._now = now

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Run a script in one snapshot."""

    @abstractmethod
    async def _write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        """Run a script in one transaction, which is durable when it returns. Each retry makes a new script. `change` is
        published after the commit."""

    def _micros_now(self) -> Script[int]:
        """The time of the database's clock."""
        if self._dialect.now is None:
            return micros(self._now())
        rows = yield execute(self._dialect.now)
        return int(rows[0][0])

    def _epoch(self) -> Script[int]:
        rows = yield execute("select value from hf_counter where name = 'epoch'")
        return int(rows[0][0])

    def _has_mail(self, addresses: Sequence[tuple[str, int]]) -> Script[list[bool]]:
        """Whether visible inbox rows have these addresses. The inbox is usually empty: one query for all of them."""
        if not (yield execute("select 1 from hf_inbox limit 1")):
            return [False] * len(addresses)
        now = yield from self._micros_now()
        answers = []
        for tenant, address in addresses:
            found = yield execute(_ADDRESSED, tenant, address, now, now)
            answers.append(bool(found))
        return answers

    def _count_up(self, counter: str) -> Script[int]:
        """Increment a counter and lock its row until the transaction ends. Concurrent increments wait."""
        yield execute("update hf_counter set value = value + 1 where name = ?", counter)
        rows = yield execute("select value from hf_counter where name = ?", counter)
        return int(rows[0][0])

    async def now(self) -> datetime:
        return moment(await self._read(self._micros_now()))
