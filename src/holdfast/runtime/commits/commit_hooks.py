"""The components that act on a committed burst. The node wires them; the batch executor calls them after each commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from holdfast.execution.live import LiveInstance
from holdfast.model.stored import BookmarkRow, InstanceKey, InstanceRow
from holdfast.model.work import EffectRow, WorkRow


class CommitHooks(Struct, frozen=True, kw_only=True):
    start_effects: Callable[[InstanceKey, LiveInstance], None]
    """Cancel the effects that the commit canceled, and start the inline effects that it recorded."""
    send_steps: Callable[[LiveInstance, InstanceRow, Sequence[EffectRow]], None]
    """Send the recorded effects that have a queue."""
    take_work: Callable[[Sequence[WorkRow]], None]
    """Take work rows of the commit that this node serves itself."""
    instance_ended: Callable[[InstanceKey], None]
    bookmarks_added: Callable[[Sequence[BookmarkRow]], None]
    """Look for stimuli that arrived before their bookmark (rule H7)."""
