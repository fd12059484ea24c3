"""Settings of the garbage collector in processes of Holdfast: a server, a worker, a benchmark; never in a host application.

A batch of bursts makes tens of thousands of small objects, and nearly all of them are freed by reference counting. With Python's
defaults the collector scans the whole heap every few batches and finds nothing: about 15 % of the CPU of a busy node.
"""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 5, 200)
"""A collection of the middle generation scans at most 250,000 objects, so it blocks the event loop for some 20 ms."""


def tune_garbage_collector() -> None:
    """Call it once, after all imports and set-up: objects that exist now are not scanned again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
