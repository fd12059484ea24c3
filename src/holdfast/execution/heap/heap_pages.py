"""Pages of a heap in one commit: the book before it, the book after it, and the pages to write and to delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from holdfast.execution.branches.branch_index import BranchChanges
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.heap.item_codec import CELLS, WRITTEN_KINDS, ItemCodec, entries_of
from holdfast.execution.heap.paged_block import ChangeLog, paged_reference
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.execution.page_tree import PageTree, Root
from holdfast.model.values.encoder import TAG

INLINE_BYTES_MAX = 4096
"""Size above which a block is stored in pages."""


class HeapPages:
    def __init__(self, before: HeapBook | None, codec: ItemCodec, *, whole: bool = False) -> None:
        """`whole`: write all blocks again."""
        self.before = before
        self.codec = codec
        if before is not None:
            before.use(codec)
        self._whole = whole
        self._stored = False
        self.after: HeapBook | None = None
        self.branches: BranchChanges | None = None
        """Changes of the sleeping branches in this commit."""
        self.added: dict[str, bytes] = {}
        self._dropped: list[str] = []
        self.roots: list[Root] = []
        """Trees that the document refers to."""

    @property
    def tracks(self) -> bool:
        return self.before is not None and self.before.tracks and not self._whole

    @property
    def dropped(self) -> list[str]:
        """Pages to delete; all of them if the instance has no heap any more."""
        return self._dropped if self._stored or self.before is None else list(self.before.refs)

    def tracked(self) -> Iterable[TrackedBlock]:
        assert self.before is not None
        return self.before.tracked()

    def store(
        self,
        document: dict[str, Any],
        tracked: Sequence[TrackedBlock],
        *,
        tracks: bool,
        referred: Collection[int] = (),
        refuses_cells: bool = False,
    ) -> dict[str, Any]:
        """The document with references to pages. `tracked` come before the new blocks of the document. `referred` are the
        cells that variables refer to. `refuses_cells`: shared objects could not become cells.
        """
        change: Counter[str] = Counter()
        packed: dict[str, bytes] = {}
        kept = set(map(id, tracked))
        before = self.before
        if before is not None and before.cells is not None and tracked:
            dropped = [block for block in before.blocks if block is not None and id(block) not in kept]
            before.cells.update(tracked, dropped, referred, self.codec)
        if before is not None and not tracked:
            change.subtract(before.refs)
        elif before is not None:
            for block in before.blocks:
                if block is not None and id(block) not in kept:
                    change.subtract(block.tree.refs())
        for block in tracked:
            block.write(self.codec)
            _take_changes(block.tree, change, packed)
        written = [{block.kind: block.reference()} for block in tracked]
        self.roots = [block.tree.root for block in tracked]
        fresh: dict[str, bytes] = {}
        new_blocks = document.pop("blocks", ())
        has_links = any(CELLS in new for new in new_blocks)
        written += [self._paged(new, change, fresh, has_links=has_links) for new in new_blocks]
        if written:
            document["blocks"] = written
            if not tracks:
                document["entangled"] = True
        self._net(change, packed | fresh, [*tracked, *[None] * (len(written) - len(tracked))], fresh, tracks=tracks)
        if self.after is not None:
            self.after.refuses_cells = refuses_cells
        return document

    def _paged(
        self, block: dict[str, Any], change: Counter[str], fresh: dict[str, bytes], *, has_links: bool
    ) -> dict[str, Any]:
        """A new block: as it is if it is small and has no links to cells, otherwise in pages."""
        ((kind, content),) = block.items()
        if content.__class__ is dict and TAG in content:
            return block  # its keys cannot be packed
        entries = entries_of(content)
        if not (has_links and kind in WRITTEN_KINDS) and sum(map(len, entries)) <= INLINE_BYTES_MAX:
            return block
        is_dict = content.__class__ is dict
        tree = PageTree.build(entries, list(content) if is_dict else None)
        _take_changes(tree, change, fresh)
        self.roots.append(tree.root)
        return {kind: paged_reference(tree, ChangeLog(), is_dict=is_dict)}

    def _net(
        self,
        change: Counter[str],
        packed: dict[str, bytes],
        blocks: list[TrackedBlock | None],
        fresh: dict[str, bytes],
        *,
        tracks: bool,
    ) -> None:
        refs = Counter[str]() if self.before is None else self.before.refs
        self._stored = True
        for ref, times in change.items():
            old = refs.get(ref, 0)
            if old + times > 0:
                refs[ref] = old + times
                if not old:
                    self.added[ref] = packed[ref]
            elif old:
                del refs[ref]
                self._dropped.append(ref)
        if refs or blocks:
            kept = self.before.cells if self.before is not None and any(blocks) else None
            self.after = HeapBook(blocks, refs, self.codec, tracks=tracks, fresh=fresh, cells=kept)
            if self.before is not None:
                self.after.loops = self.before.loops
            self.after.branches = self.branches


def _take_changes(tree: PageTree, change: Counter[str], packed: dict[str, bytes]) -> None:
    for ref, data in tree.added:
        change[ref] += 1
        packed[ref] = data
    change.subtract(tree.dropped)
    tree.added, tree.dropped = [], []
