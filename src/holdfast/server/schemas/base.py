"""Base classes of all payloads: strict requests, pages of lists, and problems."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holdfast.errors import UnstorableText
from holdfast.model.storable_text import is_storable

T = TypeVar("T")

Document = dict[str, Any]
"""A definition as JSON (`holdfast/definition@1`)."""

VersionNumber = Annotated[int, Field(ge=1, lt=2**31)]
"""Version of a definition in a request. Every number in a request is bounded by the integer range of the stores."""


class Payload(BaseModel):
    """An answer."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)


class Request(BaseModel):
    """A request body. Unknown fields are refused, so that a misspelled option is not silently ignored."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _texts_can_be_stored(self) -> Self:
        """Checks names, ids and keys, which have columns; workflow values may contain any text."""
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
    """An error response (RFC 9457)."""

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
    total: int | None = Field(
        default=None,
        description="Total number of rows that match the filters. Long lists count only if `total=true` is given.",
    )
    next: str | None = Field(default=None, description="Cursor of the next page; null on the last page.")
    stale: bool = Field(default=False, description="The list does not yet include the requested position.")
    capped: bool = Field(
        default=False,
        description="More rows begin with the searched text than were compared. Search for a longer text.",
    )


class Done(Payload):
    """Number of processed items."""

    count: int
    missing: list[str] = Field(default=[], description="Ids that do not exist.")


class BulkFailure(Payload):
    id: str
    code: str
    message: str


class BulkResult(Payload):
    """Outcome of a bulk request: each item succeeds or fails on its own."""

    done: list[str]
    failed: list[BulkFailure]
