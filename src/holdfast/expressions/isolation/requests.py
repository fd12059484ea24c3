"""Requests to a child process, and its answer. Texts are bytes (UTF-8 with lone surrogates), values are JSON texts."""

from __future__ import annotations

from enum import IntEnum

import msgspec
from msgspec import Struct


class RunJavaScript(Struct, frozen=True, tag="run-javascript", array_like=True):
    around: bytes
    """The code around the program; see `javascript.prelude`."""
    given: bytes
    program: bytes
    seconds: float
    """Processor time of the evaluation."""
    memory: int
    stack: int


class CheckJavaScript(Struct, frozen=True, tag="check-javascript", array_like=True):
    """Asks which of the forms is JavaScript, without running any of them. The answer is the position of the first one."""

    forms: tuple[bytes, ...]
    chosen: int
    """The form whose problem is reported if none is JavaScript."""
    seconds: float
    memory: int
    stack: int


class RenderLiquid(Struct, frozen=True, tag="render-liquid", array_like=True):
    source: bytes
    given: bytes
    fuel: int
    seconds: float


class CheckLiquid(Struct, frozen=True, tag="check-liquid", array_like=True):
    source: bytes
    seconds: float


Request = RunJavaScript | CheckJavaScript | RenderLiquid | CheckLiquid


class Verdict(IntEnum):
    VALUE = 0
    LIMIT = 1
    """A limit was exceeded; the text names it."""
    FAILED = 2
    """The program raised an error."""
    SYNTAX = 3
    REFUSED = 4


class Answer(Struct, frozen=True, array_like=True):
    verdict: Verdict
    text: bytes = b""
    seconds: float = 0.0
    """Processor time used."""
    retires: bool = False
    """The process ends after this answer."""

    @property
    def message(self) -> str:
        return self.text.decode("utf-8", "replace")


_encoder = msgspec.msgpack.Encoder()
_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_answers = msgspec.msgpack.Decoder(Answer)


def encode(message: Request | Answer) -> bytes:
    return _encoder.encode(message)


def decode_request(raw: bytes) -> Request:
    return _requests.decode(raw)


def decode_answer(raw: bytes) -> Answer:
    """Raises `msgspec.MsgspecError` for bytes that are no answer: a child may have been taken over."""
    return _answers.decode(raw)


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
