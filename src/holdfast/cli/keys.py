"""`holdfast keys`: API keys of programs, directly in a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from holdfast.cli.options import json_option, store_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.identity.accounts import Accounts
    from holdfast.identity.api_keys import ApiKey

store = store_option("The store; default: the setting `store`.")


@click.group(cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast keys add 'nightly import' --role operator --days 90")
def keys() -> None:
    """List, add and remove API keys."""


@keys.command("list")
@store
@json_option("Print a JSON list.")
def list_(store: str | None, as_json: bool) -> None:
    """List the keys. The secrets themselves cannot be shown again."""
    from holdfast.cli.accounts import with_accounts
    from holdfast.cli.tables import show_json, show_table

    async def work(accounts: Accounts) -> list[ApiKey]:
        return await accounts.keys.list()

    found = with_accounts(store, work)
    if as_json:
        show_json(
            [
                {
                    "id": item.id,
                    "name": item.name,
                    "roles": list(item.roles),
                    "owner": item.owner,
                    "expires": _written(item.expires),
                    "last_used": _written(item.last_used),
                }
                for item in found
            ]
        )
    else:
        show_table(
            ("id", "name", "roles", "owner", "expires", "last used"),
            [
                (
                    item.id,
                    item.name,
                    ", ".join(item.roles),
                    item.owner,
                    _written(item.expires) or "never",
                    _written(item.last_used) or "never",
                )
                for item in found
            ],
        )


@keys.command("add")
@click.argument("name")
@click.option("--role", "roles", multiple=True, required=True, help="A role; repeatable.")
@click.option("--days", type=click.IntRange(1), default=365, show_default=True, help="Lifetime in days.")
@click.option("--owner", default="", help="The user or service account that the key belongs to; it ends with it.")
@store
@json_option("Print id and key as JSON.")
def add(name: str, roles: tuple[str, ...], days: int, owner: str, store: str | None, as_json: bool) -> None:
    """Create a key and print it once."""
    from holdfast.cli.accounts import with_accounts
    from holdfast.cli.tables import show_json

    expires = datetime.now(UTC) + timedelta(days=days)

    async def work(accounts: Accounts) -> tuple[ApiKey, str]:
        found = (await accounts.users.get(owner)).id if owner else ""
        return await accounts.keys.add(name, roles=roles, expires=expires, who="command line", owner=found)

    made, text = with_accounts(store, work, may_make=True)
    if as_json:
        show_json({"id": made.id, "key": text})
    else:
        click.echo(text)
        click.echo("Store the key now: it is not shown again.", err=True)


@keys.command("remove")
@click.argument("key_id")
@store
def remove(key_id: str, store: str | None) -> None:
    """Remove a key: it is refused from now on."""
    from holdfast.cli.accounts import with_accounts

    async def work(accounts: Accounts) -> None:
        await accounts.keys.remove(key_id)

    with_accounts(store, work)
    click.echo(f"key {key_id} removed")


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="minutes")
