"""Branch state: the stored form of one branch."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from holdfast.execution.state import ActivationState, BookmarkState, EffectState, ScopeState

RECORDS = "~branches"
"""Variable of the hidden frame that holds the packed branches."""

pack_branch = msgspec.msgpack.Encoder().encode


class BranchState(Struct, array_like=True):
    """Scope 0 is the scope of the owner; the scopes of the branch follow. The first activation is the kid of the owner."""

    owner: int
    activations: list[ActivationState]
    scopes: list[ScopeState] = []
    bookmarks: list[BookmarkState] = []
    effects: list[EffectState] = []
    place: Any = None
    """Not None: the owner rebuilds scope 1 from this (`Hooks.woken`)."""


unpack_branch = msgspec.msgpack.Decoder(BranchState).decode
