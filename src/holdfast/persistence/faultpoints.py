"""Points in the commit path at which a test can kill the process, break the connection or stop the clock.

Without a hook, a point costs one comparison. Only `holdfast.testing.faults` sets the hook.

| point                  | state                                                                 |
|------------------------|-----------------------------------------------------------------------|
| `commit.begin`         | the store has the batch, nothing is sent                              |
| `commit.locked`        | the transaction has begun and its guards were read                    |
| `commit.written`       | every row is written, the transaction is open                         |
| `commit.done`          | the transaction is committed, the call has not returned               |
| `claim.taken`          | work rows are claimed                                                 |
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
"""Called with the point's name. It may raise an error of the driver, or end the process."""


def reached(point: str) -> None:
    if hook is not None:
        hook(point)
