"""Payloads of descriptors: metadata of activities, languages, types and strategies, for designers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from holdfast.server.schemas.base import Payload


class InputInfo(Payload):
    name: str
    display_name: str
    type: str
    json_schema: dict[str, Any] = Field(alias="schema", serialization_alias="schema")
    hint: str = Field(description="Suitable editor: text, number, switch, list, object, code, datetime …")
    default: Any = None
    required: bool = False
    secret: bool = False
    evaluated: bool = True
    category: str | None = None
    description: str | None = None
    shown_when: dict[str, Any] | None = Field(
        default=None, description="Show this input only while the other inputs have this value, or one of these values."
    )
    options: list[Any] | None = Field(default=None, description="Allowed values, if the set is small.")


class OutputInfo(Payload):
    name: str
    display_name: str
    type: str
    json_schema: dict[str, Any] = Field(alias="schema", serialization_alias="schema")
    description: str | None = None


class PortInfo(Payload):
    name: str
    display_name: str
    kind: Literal["one", "many", "entries"]
    variables: list[str] = []


class ActivityInfo(Payload):
    type: str
    version: int
    name: str
    display_name: str
    category: str
    description: str | None = None
    icon: str | None = None
    kind: Literal["pure", "effect"]
    trigger: bool
    container: bool
    terminal: bool
    start: bool
    browsable: bool
    inputs: list[InputInfo]
    outputs: list[OutputInfo]
    outcomes: list[str]
    dynamic_outcomes: bool
    ports: list[PortInfo]


class ActivityList(Payload):
    items: list[ActivityInfo]


class LanguageInfo(Payload):
    language: str
    display_name: str
    editor: str = Field(description="Language for syntax highlighting.")
    browsable: bool = True


class LanguageList(Payload):
    items: list[LanguageInfo]


class VariableTypeInfo(Payload):
    name: str
    display_name: str
    category: str
    json_schema: dict[str, Any] = Field(alias="schema", serialization_alias="schema")


class VariableTypeList(Payload):
    items: list[VariableTypeInfo]


class StrategyInfo(Payload):
    name: str
    display_name: str
    description: str | None = None


class StrategyList(Payload):
    activation: list[StrategyInfo]
    incident: list[StrategyInfo]
    commit: list[StrategyInfo]
    journal: list[StrategyInfo]
    merge: list[StrategyInfo]
    on_lost: list[StrategyInfo]
