"""Claims: work rows locked in a transaction of their own, which the claim's first commit ends.

Rows that others have in hand are skipped. Nothing is written to take a row, so a process that dies gives its rows back
with its connection. What the first commit did not consume is free in the database from then on, but stays out of this
process' other claims until the block ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.work import WorkRow
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.store_parts import ClaimingStore
from holdfast.persistence.sql.work_tables import AT_ONCE, WORK
from holdfast.ports import Codec
