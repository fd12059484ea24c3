"""Test tools for users: the harness for workflows, and the contract suites for stores and transports.

`__init__.pyi` lists the names; each is imported on first use, because the contract suites need no engine.
"""

from __future__ import annotations

from holdfast.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, __file__)
