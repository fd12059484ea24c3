"""Mermaid text of a definition: containers are subgraphs, backward connections are dotted."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.model.definition import Definition
from holdfast.model.diagram.shapes import Arrow, Box, Descriptors, sketch

__all__ = ["to_mermaid"]

_SHAPES = {"start": ("([", "])"), "end": ("([", "])"), "trigger": (">", "]"), "unknown": ("{{", "}}")}
_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "\\": "#92;"}


def to_mermaid(definition: Definition, descriptors: Descriptors | None = None) -> str:
    lines = ["flowchart TD", *_box(sketch(definition, descriptors), 1)]
    return "\n".join(lines) + "\n"


def _box(box: Box, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if not box.children:
        opening, closing = _SHAPES.get(box.style, ("[", "]"))
        yield f"{indent}{box.key}{opening}{_label(box, '<br/>')}{closing}"
        return
    yield f"{indent}subgraph {box.key}[{_label(box, ' · ')}]"
    for child in box.children:
        yield from _box(child, depth + 1)
    for arrow in box.arrows:
        yield f"{indent}  {_arrow(arrow)}"
    yield f"{indent}end"


def _label(box: Box, between: str) -> str:
    return f'"{between.join(_escape(text) for text in (box.title, box.subtitle) if text) or " "}"'


def _arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.backward else "-->"
    label = f'|"{_escape(arrow.label)}"|' if arrow.label else ""
    return f"{arrow.source} {line}{label} {arrow.target}"


def _escape(text: str) -> str:
    return "".join(_ENTITIES.get(char, char) for char in text)
