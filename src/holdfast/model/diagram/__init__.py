"""Diagrams of definitions: Mermaid text, and SVG without external programs."""

from __future__ import annotations

from holdfast.model.diagram.mermaid import to_mermaid
from holdfast.model.diagram.svg import to_svg

__all__ = ["to_mermaid", "to_svg"]
