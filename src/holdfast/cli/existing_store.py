"""For commands that look at a store or change what is in it: a mistyped path makes no empty database."""

from __future__ import annotations

from difflib import get_close_matches

from holdfast.cli.failures import BadInput


def existing(url: str) -> str:
    """The address itself; refuses the one of a SQLite file that is not there."""
    if not url.lower().startswith("sqlite:"):
        return url
    from holdfast.persistence.sql.sqlite.url import sqlite_path

    path = sqlite_path(url)
    if path.exists():
        return url
    close = get_close_matches(path.name, [item.name for item in path.parent.glob("*.*")], n=1)
    guess = f" Did you mean {url.removesuffix(path.name)}{close[0]}?" if close else ""
    raise BadInput(
        f"There is no database '{path}'.{guess} Name the right one with --store (or HOLDFAST_STORE). To make an empty one: "
        f"holdfast migrate --store {url}"
    )
