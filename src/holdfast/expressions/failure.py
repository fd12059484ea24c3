"""Error messages of expressions: the error class, the text, and a quote of the source."""

from __future__ import annotations

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionLimit

_QUOTE = 80
_MESSAGE = 300


def quoted(source: object) -> str:
    """The text on one line, shortened for a message."""
    text = " ".join(str(source).split())
    return f"`{text if len(text) <= _QUOTE else text[: _QUOTE - 1] + '…'}`"


def message_of(error: BaseException) -> str:
    """Message of an error, limited in length. str() of a KeyError would give only the key."""
    text = str(error)
    text = text if len(text) <= _MESSAGE else text[: _MESSAGE - 1] + "…"
    if isinstance(error, KeyError):
        return f"there is no {text}"
    return text or type(error).__name__


def failed(language: str, source: str, error: BaseException) -> ExpressionError:
    """The error that an evaluation ends with. The caller chains the cause."""
    if isinstance(error, RecursionError):
        return out_of_bounds(language, source, "it is nested too deeply; simplify it")
    if isinstance(error, MemoryError):
        return out_of_bounds(language, source, "it needs too much memory; process less data")
    return ExpressionFailed(f"{quoted(source)} failed: {message_of(error)}", language=language, source=source)


def out_of_bounds(language: str, source: str, why: str) -> ExpressionLimit:
    return ExpressionLimit(f"{quoted(source)} was stopped: {why}.", language=language, source=source)
