"""The base class of all errors."""

from __future__ import annotations


class HoldfastError(Exception):
    """Base class of every error that Holdfast raises."""
