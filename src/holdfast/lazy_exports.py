"""Lazy exports: a package offers the names that its stub lists, and imports each name on first use.

`holdfast/__init__.pyi` lists the public names as ordinary imports. Type checkers read the stub, and `lazy_exports` reads the
same list at run time. Each name is therefore written in one place, and `import holdfast` loads no other module.

    __getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of the module `package`; the stub stands next to `file`."""
    homes = read_stub(Path(file).with_suffix(".pyi"))
    names = sorted(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, original = homes[name]
        found = getattr(import_module(module), original)
        setattr(sys.modules[package], name, found)  # the next access does not come here
        return found

    return load, names.copy, names


def read_stub(stub: Path) -> dict[str, tuple[str, str]]:
    """The names that a stub exports (`from module import original as name`), each with its module and original name."""
    return {
        alias.asname: (line.module, alias.name)
        for line in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(line, ast.ImportFrom) and line.module is not None
        for alias in line.names
        if alias.asname is not None
    }
