"""Check that a store exists, for commands that read or change one: a mistyped path must not create an empty database."""

from __future__ import annotations

from difflib import get_close_matches

from holdfast.cli.failures import BadInput


def existing(url: str) -> str:
    """Returns the URL; refuses the path of a missing SQLite file."""
    if not url.lower().startswith("sqlite:"):
        return url
    from holdfast.persistence.sql.sqlite.url import sqlite_path

    path = sqlite_path(url)
    if path.exists():
        return url
    close = get_close_matches(path.name, [item.name for item in path.parent.glob("*.*")], n=1)
    guess = f" Did you mean {url.removesuffix(path.name)}{close[0]}?" if close else ""
    raise BadInput(
        f"There is no database '{path}'.{guess} Correct --store (or HOLDFAST_STORE). To create an empty database: "
        f"holdfast migrate --store {url}"
    )
