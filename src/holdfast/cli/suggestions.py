"""Command groups that suggest the nearest command after a typo."""

from __future__ import annotations

from difflib import get_close_matches

import click


class SuggestingGroup(click.Group):
    """Suggests a command with a similar name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        close = get_close_matches(args[0], self.list_commands(ctx), n=1) if args else []
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{close[0]}'?", ctx) from None
