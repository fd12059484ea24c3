"""A program that reads YAML texts: a JSON list of texts on stdin, a JSON list of answers on stdout.

YAML is parsed in a process of its own: the parser is written in Python and takes seconds for a few hundred kilobytes, in which it
would slow down every other request. This file is run by its path and imports nothing of Holdfast, so that it starts fast.
Aliases are refused: a few hundred bytes of them describe a document of gigabytes.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import yaml

MEMORY_MAX = 1_000_000_000


class AliasRefused(Exception):
    """The text uses an alias."""


class PlainLoader(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise AliasRefused
        return super().compose_node(parent, index)


def answer(text: str) -> dict[str, Any]:
    """`value`, or `error` and `alias`. Dates become texts."""
    try:
        value = yaml.load(text, PlainLoader)  # noqa: S506 - a safe loader
        return {"value": json.loads(json.dumps(value, default=str))}
    except AliasRefused:
        return {"error": "it uses an alias", "alias": True}
    except (yaml.YAMLError, RecursionError, ValueError, TypeError, OverflowError) as error:
        return {"error": str(error) or type(error).__name__, "alias": False}


def main() -> None:
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    json.dump([answer(text) for text in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
