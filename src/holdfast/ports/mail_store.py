"""Ports of the inbox and the outbox: stimuli that wait for a bookmark, and events that wait for their receivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from msgspec import Struct

from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import InboxRow, OutboxRow, WorkRow


class Mail(Struct, frozen=True, kw_only=True):
    """Kept stimuli that fit the stored bookmarks of one instance."""

    seen: int
    """The highest number of a stored bookmark of the instance: later bookmarks were not compared with the inbox."""
    rows: Sequence[InboxRow]


class InboxStore(Protocol):
    """Stimuli that arrived before their bookmark, in the order of their position (rule H16).

    The store assigns the position when it stores a row: a row that is stored after another one was committed, by any process,
    has a higher position. Clocks and ids of nodes have no influence.

    Both sides write, commit, then look: the sender looks for a bookmark after `put_inbox`, and a burst that creates a
    bookmark looks with `find_mail` after its commit. The commit that consumes the row delivers the stimulus."""

    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        """Durable on return. False for a stimulus that is already stored. `work` rows are added in the same transaction, unless
        they exist."""

    async def has_mail(self, addresses: Sequence[tuple[str, int]]) -> Sequence[bool]:
        """Whether rows of these addresses (tenant and hash) are stored that are neither expired nor still delayed. One index
        lookup each: every addressed event asks."""

    async def find_mail(self, keys: Sequence[InstanceKey], limit: int) -> Sequence[Mail]:
        """For each instance the rows that fit one of its stored bookmarks, by position, at most `limit`; without expired and
        delayed rows."""

    async def inbox_of(self, tenant: str, instance_id: str) -> Sequence[InboxRow]:
        """Rows that are addressed to this instance, by position."""

    async def stranded_inbox(self, limit: int) -> Sequence[tuple[InboxRow, BookmarkRow]]:
        """Rows with a matching bookmark, of all tenants: the process that should have matched them died before it looked."""

    async def expire_inbox(self, limit: int) -> Sequence[InboxRow]:
        """Delete and return expired rows. The caller counts and lists them; they are not dead-lettered."""


class OutboxStore(Protocol):
    """Outbox rows. Relays drain it by deletion, not by a cursor. Delivery is at-least-once; each row has a stable id."""

    async def take_outbox(self, limit: int, hold: timedelta) -> Sequence[OutboxRow]:
        """Lease the oldest rows without a valid lease to this relay for `hold`, durably, and increment their `attempts`."""

    async def delete_outbox(self, rows: Sequence[OutboxRow]) -> None:
        """Remove delivered rows."""

    async def return_outbox(self, rows: Sequence[OutboxRow], after: timedelta) -> None:
        """Release rows that were not delivered; they can be taken again after that time."""
