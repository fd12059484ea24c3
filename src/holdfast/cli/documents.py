"""Files named by users: read as JSON or YAML with the position of errors, and written atomically."""

from __future__ import annotations

import json
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from holdfast.cli.failures import BadInput

STDIN = "-"
FILE_BYTES_MAX = 100_000_000
"""Size limit of a file to read: a device may be endless, and no definition or input is that large."""


def read_json(path: str) -> Any:
    """The JSON in a file, or on stdin for `-`; a byte order mark is skipped."""
    return parse_json(read_text(path), "stdin" if path == STDIN else path)


def read_document(path: str) -> Any:
    """The definition in a file: YAML by its suffix, otherwise JSON."""
    if not path.lower().endswith((".yaml", ".yml")):
        return read_json(path)
    import yaml

    try:
        return yaml.safe_load(read_text(path))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadInput(f"{path} is not YAML: {error.problem or error.context}{where}. Correct it there.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInput(f"{path} is not YAML: {' '.join(str(error).split())}. Correct it there.") from None


def read_text(path: str) -> str:
    place = "stdin" if path == STDIN else path
    try:
        raw = _raw(path)
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"There is no file '{path}'. Correct the path.") from None
    except IsADirectoryError:
        raise BadInput(f"'{path}' is a folder. Name a file in it.") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{place} is not UTF-8 (line {line}). Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"'{path}' cannot be read: {reason}.") from None


def _raw(path: str) -> bytes:
    if path == STDIN:
        raw = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
    else:
        with Path(path).open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    if len(raw) > FILE_BYTES_MAX:
        raise ValueError(f"it is larger than {FILE_BYTES_MAX:,} bytes")
    return raw


def parse_json(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadInput(f"{place} is not JSON: {error.msg} at {where}. Correct it there.") from None
    except RecursionError:
        raise BadInput(f"{place} is nested too deeply to be read. Reduce the nesting.") from None
    except ValueError as error:
        raise BadInput(f"{place} is not JSON: {error}.") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; write null or a string")


def write_file(path: str, text: str) -> None:
    """Replaces the file atomically: a reader sees the old or the new content, even after a crash."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise BadInput(f"'{path}' cannot be written: it is a folder. Name a file in it.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        if target.exists() and not target.is_file():  # write directly to a pipe or device
            target.write_text(text, encoding="utf-8")
            return
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except OSError as error:
        with suppress(OSError):  # an unwritable folder cannot hold the temporary file either
            beside.unlink(missing_ok=True)
        raise BadInput(f"'{path}' cannot be written: {error.strerror or error}.") from None


def refuse_unwritable(path: str) -> None:
    """Called before a run, so that a long run does not fail at its end."""
    target = Path(path)
    if target.is_dir():
        raise BadInput(f"'{path}' is a folder. Name a file in it.")
    if not os.access(target.absolute().parent, os.W_OK):
        raise BadInput(f"'{path}' cannot be written: there is no writable folder '{target.parent}'.")
