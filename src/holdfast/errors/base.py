"""The root of the family."""

from __future__ import annotations


class HoldfastError(Exception):
    """Something went wrong in Holdfast."""
