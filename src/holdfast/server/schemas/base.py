"""What all payloads share: how requests are read, what a list looks like, what a problem looks like."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holdfast.errors import UnstorableText
from holdfast.model.storable_text import is_storable

T = TypeVar("T")

Document = dict[str, Any]
"""A definition as JSON (`holdfast/definition@1`)."""

VersionNumber = Annotated[int, Field(ge=1, lt=2**31)]
"""Of a definition, where somebody gives it. Every number that is asked for has bounds that a store can count in."""


class Payload(BaseModel):
    """An answer."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)


class Request(BaseModel):
    """A request's body. Names that do not exist are refused: a misspelled option must not be ignored in silence."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _texts_can_be_stored(self) -> Self:
        """Names, ids and keys have columns; values that a workflow is given may hold any text."""
        for name, value in self.__dict__.items():
            texts = (value,) if value.__class__ is str else value if value.__class__ is list else ()
            for text in texts:
                if text.__class__ is str and not is_storable(text):
                    raise ValueError(str(UnstorableText(text, name)))
        return self


class ProblemDetail(Payload):
    path: str = ""
    message: str
    severity: Literal["error", "warning"] = "error"
    code: str = ""
    activity_id: str | None = None


class Problem(Payload):
    """Why a request was refused (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None
    code: str
    errors: list[ProblemDetail] | None = None


class Page(Payload, Generic[T]):
    """One page of a list."""

    items: list[T]
    total: int = Field(description="How many there are in all, with these filters.")
    next: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")
    stale: bool = Field(default=False, description="The list has not yet seen the position that was asked for.")


class Done(Payload):
    """How many were done."""

    count: int
    missing: list[str] = Field(default=[], description="Ids of which there is none (any more).")


class BulkFailure(Payload):
    id: str
    code: str
    message: str


class BulkResult(Payload):
    """What became of many: each on its own."""

    done: list[str]
    failed: list[BulkFailure]
