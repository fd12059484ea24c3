"""Requests, filters, results, alterations and declarations: the public names beside `holdfast` and `holdfast.activities`.

`api.pyi` lists them; each is imported on first use.
"""

from __future__ import annotations

from holdfast.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__, renamed={"Prioritised": "Prioritized"})
