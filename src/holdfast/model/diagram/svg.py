"""SVG image of a definition, for light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from holdfast.model.definition import Definition
from holdfast.model.diagram.layout import Placed, Point, place
from holdfast.model.diagram.shapes import Arrow, Descriptors, sketch

__all__ = ["to_svg"]

_MARGIN = 12.0

_STYLE = """
  svg { background: #fff; }
  rect { fill: #fff; stroke: #64748b; }
  .container { fill: #f8fafc; } .port { fill: none; stroke-dasharray: 3 3; }
  .start { fill: #dcfce7; } .end { fill: #fee2e2; } .trigger { fill: #fef9c3; } .unknown { stroke: #dc2626; }
  text { fill: #0f172a; font: 13px system-ui, sans-serif; } .subtitle { fill: #64748b; font-size: 11px; }
  path { fill: none; stroke: #475569; stroke-width: 1.5; } .backward { stroke-dasharray: 5 4; }
  .label { font-size: 11px; stroke: #fff; stroke-width: 4px; paint-order: stroke; } .head { fill: #475569; stroke: none; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0f172a; } rect { fill: #1e293b; } .container { fill: #111c30; } .port { fill: none; }
    .start { fill: #14532d; } .end { fill: #7f1d1d; } .trigger { fill: #713f12; } text { fill: #e2e8f0; }
    .subtitle { fill: #94a3b8; } path { stroke: #94a3b8; } .label { stroke: #0f172a; } .head { fill: #94a3b8; stroke: none; }
  }
"""
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>'
)


def to_svg(definition: Definition, descriptors: Descriptors | None = None) -> str:
    placed = place(sketch(definition, descriptors))
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    title = escape("".join(char for char in definition.title if char.isprintable()))
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}">'
        ),
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        _HEAD,
        *_box(placed, _MARGIN, _MARGIN),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _box(placed: Placed, left: float, top: float) -> Iterator[str]:
    box = placed.box
    style = f"{box.style} container" if placed.children and box.style != "port" else box.style
    middle = left + placed.width / 2
    yield (
        f'<rect rx="6" class="{style}" x="{left:.1f}" y="{top:.1f}" width="{placed.width:.1f}" height="{placed.height:.1f}"/>'
    )
    if placed.children:
        subtitle = f' <tspan class="subtitle">{escape(box.subtitle)}</tspan>' if box.subtitle else ""
        yield f'<text x="{left + 12:.1f}" y="{top + 21:.1f}">{escape(box.title)}{subtitle}</text>'
    else:
        yield f'<text x="{middle:.1f}" y="{top + 21:.1f}" text-anchor="middle">{escape(box.title)}</text>'
        if box.subtitle:
            yield (
                f'<text class="subtitle" x="{middle:.1f}" y="{top + 38:.1f}" text-anchor="middle">'
                f"{escape(box.subtitle)}</text>"
            )
    for child in placed.children:
        yield from _box(child, left + child.x, top + child.y)
    yield from _arrows(placed, left, top)


def _arrows(placed: Placed, left: float, top: float) -> Iterator[str]:
    by_key = {child.box.key: child for child in placed.children}
    loops = 0
    for index, arrow in enumerate(placed.box.arrows):
        source, target = by_key[arrow.source], by_key[arrow.target]
        if arrow.backward or source.y >= target.y:
            loops += 1
            points = _loop(source, target, placed.width - 6 - 10.0 * (loops % 8))
        else:
            route = placed.routes.get(index, [])
            points = [*_way_out(source), *route, _top_of(target)]
        yield _path([(x + left, y + top) for x, y in points], arrow)
        if arrow.label:
            x, y = _label_place(points)
            label = escape(arrow.label)
            yield f'<text class="label" x="{x + left:.1f}" y="{y + top:.1f}" text-anchor="middle">{label}</text>'


def _way_out(source: Placed) -> list[Point]:
    middle, bottom = source.x + source.width / 2, source.y + source.height
    return [(middle, bottom), (middle, source.row_end)] if source.row_end > bottom else [(middle, bottom)]


def _top_of(placed: Placed) -> Point:
    return placed.x + placed.width / 2, placed.y


def _loop(source: Placed, target: Placed, lane: float) -> list[Point]:
    """Leave on the right, run along the lane, and return from the right."""
    out = (source.x + source.width, source.y + source.height / 2 + 6)
    back = (target.x + target.width, target.y + target.height / 2 - 6)
    return [out, (lane, out[1]), (lane, back[1]), back]


def _label_place(points: list[Point]) -> Point:
    (x1, y1), (x2, y2) = points[0], points[1]
    return (x1 + x2) / 2, (y1 + y2) / 2 + 4


def _path(points: list[Point], arrow: Arrow) -> str:
    (x, y), *rest = points
    steps = [f"M{x:.1f} {y:.1f}"]
    for next_x, next_y in rest:
        if arrow.backward or abs(next_x - x) < 1:
            steps.append(f"L{next_x:.1f} {next_y:.1f}")
        else:
            middle = (y + next_y) / 2
            steps.append(f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
    style = ' class="backward"' if arrow.backward else ""
    return f'<path{style} d="{" ".join(steps)}" marker-end="url(#head)"/>'
