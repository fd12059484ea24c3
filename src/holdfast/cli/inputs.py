"""`--input JSON|@file`."""

from __future__ import annotations

from typing import Any

from holdfast.cli.documents import parse_json, read_json
from holdfast.cli.failures import BadInput

_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}


def read_payload(text: str | None, option: str = "--input") -> Any:
    """Any JSON value; None without a text. `option` is the option's name, for errors."""
    if text is None:
        return None
    if text.startswith("@"):
        path = text[1:]
        if not path:
            raise BadInput(f"{option} @ lacks a file name. Write {option} @FILE, or @- for stdin.")
        return read_json(path)
    try:
        return parse_json(text, option)
    except BadInput as error:
        raise BadInput(f"{error.message} Quote it for the shell, or put it in a file: {option} @FILE.") from None


def read_inputs(text: str | None) -> dict[str, Any]:
    """The inputs of a workflow, by name."""
    if text is None:
        return {}
    found = read_payload(text)
    if not isinstance(found, dict):
        raise BadInput(f'--input is {_KINDS[type(found)]}. Pass the inputs by name: --input \'{{"name": "value"}}\'.')
    return found
