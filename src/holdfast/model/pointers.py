"""JSON pointers (RFC 6901) to positions in a document."""

from __future__ import annotations

__all__ = ["pointer"]


def pointer(base: str, *steps: str | int) -> str:
    """`pointer("/root", "inputs", "a/b")` is `/root/inputs/a~1b`."""
    return base + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
