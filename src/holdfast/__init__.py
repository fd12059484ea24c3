"""Holdfast: durable, event-driven workflows for Python teams.

The names for everyday use are listed in `__init__.pyi`; each is imported on first use, so `import holdfast` stays light.
Activities are in `holdfast.activities`; requests, filters, results and declarations in `holdfast.api`.
"""

from __future__ import annotations

from holdfast.lazy_exports import lazy_exports

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_exports(
    __name__, __file__, see_also=("holdfast.activities", "holdfast.api", "holdfast.errors", "holdfast.testing")
)
