"""Transports for step tickets, one file per broker. `transport_from_url` returns the transport of an address.

`__init__.pyi` lists the public names; each is imported on first use.
"""

from __future__ import annotations

from holdfast.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__)
