"""Places in the commit path where a test can make the process die, the connection break or the clock stand still.

Off (None) it costs one comparison. `holdfast.testing.faults` sets the hook; nothing else does.

| point                  | what has happened                                                     |
|------------------------|-----------------------------------------------------------------------|
| `commit.begin`         | the batch is in hand, nothing is sent                                 |
| `commit.locked`        | the transaction has begun and its guards were read                    |
| `commit.written`       | every row is written, the transaction is open                         |
| `commit.done`          | the transaction is committed, the caller has not heard of it          |
| `claim.taken`          | work rows are in hand                                                 |
| `migrate.step`         | one migration is applied, more may follow                             |
"""

from __future__ import annotations

from collections.abc import Callable

POINTS = (
    "commit.begin",
    "commit.locked",
    "commit.written",
    "commit.done",
    "claim.taken",
    "migrate.step",
)

hook: Callable[[str], None] | None = None
"""Called with the point's name. It may raise what the driver would raise, or end the process."""


def reached(point: str) -> None:
    if hook is not None:
        hook(point)
