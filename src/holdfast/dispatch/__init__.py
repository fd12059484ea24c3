"""Carrying: one file per transport. `transport_from_url` finds the one that an address names.

`__init__.pyi` lists the names; each is imported on first use.
"""

from __future__ import annotations

from holdfast.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__)
