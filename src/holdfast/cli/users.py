"""`holdfast users`: user accounts, directly in a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli.failures import BadInput
from holdfast.cli.options import json_option, store_option
from holdfast.cli.suggestions import SuggestingGroup

if TYPE_CHECKING:
    from holdfast.identity.accounts import Accounts
    from holdfast.identity.user import User

store = store_option("The store; default: the setting `store`.")
STDIN = "-"
password_option = click.option("--password", help="The password; '-' reads it from stdin. Default: prompt for it.")


def _given(password: str | None) -> str:
    if password is None and not sys.stdin.isatty():
        raise BadInput("There is no terminal to prompt for the password. Pass it on stdin: --password -")
    if password is None:
        asked: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return asked
    return sys.stdin.readline().rstrip("\n") if password == STDIN else password


@click.group(cls=SuggestingGroup, epilog="\b\nExample:\n  holdfast users add kim --role operator")
def users() -> None:
    """List, add, change and remove users."""


@users.command("list")
@store
@json_option("Print a JSON list.")
def list_(store: str | None, as_json: bool) -> None:
    """List the users."""
    from holdfast.cli.accounts import with_accounts
    from holdfast.cli.tables import show_json, show_table

    async def work(accounts: Accounts) -> list[User]:
        return await accounts.users.list()

    found = with_accounts(store, work)
    if as_json:
        show_json(
            [{"id": item.id, "name": item.name, "roles": list(item.roles), "active": item.active} for item in found]
        )
    else:
        show_table(
            ("user", "name", "roles", "active"),
            [(item.id, item.name, ", ".join(item.roles), "yes" if item.active else "no") for item in found],
        )


@users.command("add")
@click.argument("user")
@password_option
@click.option("--role", "roles", multiple=True, help="A role; repeatable.")
@click.option("--name", help="Display name.")
@click.option("--service", is_flag=True, help="A service account: no password, API keys belong to it.")
@store
def add(
    user: str, password: str | None, roles: tuple[str, ...], name: str | None, service: bool, store: str | None
) -> None:
    """Add a user or a service account."""
    from holdfast.cli.accounts import with_accounts

    if service and password is not None:
        raise BadInput("A service account has no password. Omit --password.")
    chosen = "" if service else _given(password)

    async def work(accounts: Accounts) -> User:
        if service:
            return await accounts.users.add_service(user, roles=roles, name=name)
        return await accounts.users.add(user, chosen, roles=roles, name=name)

    made = with_accounts(store, work, may_make=True)
    click.echo(f"user {made.id} added")


@users.command("password")
@click.argument("user")
@password_option
@store
def password_(user: str, password: str | None, store: str | None) -> None:
    """Set a user's password; ends all sessions."""
    from holdfast.cli.accounts import with_accounts

    chosen = _given(password)

    async def work(accounts: Accounts) -> User:
        return await accounts.change_password(user, chosen)

    changed = with_accounts(store, work)
    click.echo(f"password of {changed.id} changed")


@users.command("roles")
@click.argument("user")
@click.argument("roles", nargs=-1)
@store
def roles_(user: str, roles: tuple[str, ...], store: str | None) -> None:
    """Replace a user's roles with the named ones."""
    from holdfast.cli.accounts import with_accounts

    async def work(accounts: Accounts) -> User:
        return await accounts.users.change(user, roles=roles)

    changed = with_accounts(store, work)
    click.echo(f"roles of {changed.id}: {', '.join(changed.roles) or 'none'}")


@users.command("remove")
@click.argument("user")
@store
def remove(user: str, store: str | None) -> None:
    """Remove a user and end all sessions."""
    from holdfast.cli.accounts import with_accounts

    async def work(accounts: Accounts) -> None:
        await accounts.remove_user(user)

    with_accounts(store, work)
    click.echo(f"user {user} removed")
