"""Lazy exports: a module offers the names that its stub lists, and imports each name on first use.

`holdfast/__init__.pyi` lists the public names as ordinary imports. Type checkers read the stub, and `lazy_exports` reads the
same list at run time. Each name is therefore written in one place, and `import holdfast` loads no other module.

    __getattr__, __dir__ = lazy_exports(__name__, __file__)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_exports(module: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a module; its stub is the file next to `file` with the suffix `.pyi`."""

    @cache
    def homes() -> dict[str, str]:
        return read_stub(f"{file.rpartition('.')[0]}.pyi")

    def load(name: str) -> Any:
        if name == "__all__":  # for `from module import *`
            return names()
        home = homes().get(name)
        if home is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        found = getattr(import_module(home), name)
        setattr(sys.modules[module], name, found)  # the next access does not call this function
        return found

    def names() -> list[str]:
        return sorted(homes())

    return load, names


def read_stub(path: str) -> dict[str, str]:
    """The names that a stub exports (`from home import name as name`), each with its home."""
    import ast  # here, because `import holdfast` alone does not need it

    with open(path, encoding="utf-8") as stub:  # noqa: PTH123 - `import holdfast` loads no pathlib
        lines = ast.parse(stub.read()).body
    return {
        alias.name: line.module
        for line in lines
        if isinstance(line, ast.ImportFrom) and line.module is not None
        for alias in line.names
    }
