"""Errors for users: one line or a table on stderr, never a traceback."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem

EXTRAS = {
    **dict.fromkeys(
        (
            "argon2",
            "fastapi",
            "jwt",
            "multipart",
            "prometheus_client",
            "pydantic",
            "starlette",
            "uvicorn",
            "websockets",
        ),
        "server",
    ),
    "aiohttp": "client",
    "cryptography": "encryption",
    "liquid": "liquid",
    "yaml": "yaml",
}
"""Packages installed by an extra, by import name."""

_LONG_WORD = re.compile(r"\S{400,}")
_ECHOED_LENGTH_MAX = 60
"""Maximum length of user input repeated in an error."""

BAD_INPUT = 2
OUR_BUG = 70
INTERRUPTED = 130


class BadInput(click.ClickException):
    """An error in one line: the problem and its remedy."""

    exit_code = BAD_INPUT

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"{click.style('Error:', fg='red')} {shortened(self.format_message())}", err=True)


class BadDocument(BadInput):
    """Problems of a document, shown as a table."""

    def __init__(self, place: str, problems: Sequence[Problem]) -> None:
        self.place = place
        self.problems = tuple(problems)
        super().__init__(f"{place} has {len(self.problems)} problem(s).")

    def show(self, file: IO[Any] | None = None) -> None:
        from holdfast.cli.tables import show_problems

        super().show(file)
        show_problems([(self.place, problem) for problem in self.problems])


class BadDocuments(BadInput):
    """Problems of several documents in one table; `so` names the action that did not happen."""

    def __init__(self, found: Sequence[tuple[str, Problem]], so: str) -> None:
        self.found = tuple(found)
        files = len({place for place, _ in self.found})
        super().__init__(f"{files} file(s) with {len(self.found)} problem(s). {so}")

    def show(self, file: IO[Any] | None = None) -> None:
        from holdfast.cli.tables import show_problems

        super().show(file)
        show_problems(self.found)


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Converts errors into messages that click prints."""
    try:
        yield
        sys.stdout.flush()
    except HoldfastError as error:
        raise as_bad_input(error) from error
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (
        UnicodeEncodeError
    ) as error:  # an argument that the shell passed undecoded; Holdfast's own text is always valid
        shown = ascii(error.object[:_ECHOED_LENGTH_MAX])
        raise BadInput(f"{shown} is not valid UTF-8, so nothing can have that name. Type it again in UTF-8.") from error
    except OSError as error:
        raise _lost_output(error) from error
    except click.UsageError as error:
        message = shortened(error.format_message())
        if message == error.format_message():
            raise
        raise click.UsageError(message, error.ctx) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            remedy = f"pip install 'holdfast[{EXTRAS[error.name]}]'"
            raise BadInput(f"This command needs the package '{error.name}'. Install it with: {remedy}") from error
        click.echo(
            f"Error: This is a bug in Holdfast, please report it: {one_line(error)} ({place_of(error)})", err=True
        )
        raise click.exceptions.Exit(OUR_BUG) from error


def shortened(message: str) -> str:
    """Shortens very long words, such as a document passed in place of a file name."""
    return _LONG_WORD.sub(lambda found: f"{found[0][:200]}…{found[0][-20:]}", message)


def as_bad_input(error: HoldfastError, place: str = "The input") -> BadInput:
    """With all problems that the error carries."""
    problems = getattr(error, "problems", ())
    return BadDocument(place, problems) if problems else BadInput(str(error))


def one_line(error: BaseException) -> str:
    """`KeyError: 'x'`, on one line."""
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_of(error: BaseException) -> str:
    """The line of code that raised the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}"


def _lost_output(error: OSError) -> Exception:
    if error.errno != errno.EPIPE:
        if error.filename:
            return BadInput(f"{error.strerror or error}: {error.filename}.")
        close_quietly()
        return BadInput(f"The output cannot be written: {error.strerror or error}.")
    close_quietly()
    return click.exceptions.Exit(BAD_INPUT)


def fill_closed() -> None:
    """Opens the null device for a closed stream (`>&-`). Otherwise a database file could get its descriptor and be written to."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process


def close_quietly() -> None:
    """Stdout has no reader any more: flushing its buffer must not fail at the end of the process."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # stdout is not a file (in tests or a host program): nothing can fail later
        pass
