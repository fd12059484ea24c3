/** Paints a scene on a canvas: a thousand boxes in a few strokes. A thousand elements would be slow to move. */

import type { Point } from "../../model/graph";
import { cornersOf, intersects, OVERVIEW_ZOOM, type OverviewCard, type Rect, type Scene } from "./scene";

export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
  /** Size of the canvas in CSS pixels. */
  readonly width: number;
  readonly height: number;
}

export interface Colours {
  readonly surface: string;
  readonly strong: string;
  readonly text: string;
  readonly accent: string;
  readonly note: string;
  readonly font: string;
  readonly tones: Readonly<Record<string, readonly [soft: string, strong: string]>>;
}

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  const tones = Object.fromEntries(
    ["ok", "run", "wait", "bad", "off"].map((tone) => [tone, [read(`--${tone}-soft`), read(`--${tone}`)] as const]),
  );
  return {
    surface: read("--surface"),
    strong: read("--line-strong"),
    text: read("--text"),
    accent: read("--accent"),
    note: read("--wait-soft"),
    font: read("--font"),
    tones,
  };
}

/** Part of the scene to paint: cards, edges, and the offset of dragged cards. */
export interface Part {
  readonly has: (id: string) => boolean;
  readonly hasEdge: (source: string, target: string) => boolean;
  readonly shift: Point;
  readonly isMoved: (id: string) => boolean;
}

const NAME_ZOOM = 0.16;
const NAME_SIZE = 9;
const LETTER = 0.56;
const ROUND = 10;

export function clear(context: CanvasRenderingContext2D, view: View, ratio: number): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
}

export function paintScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  part: Part,
  view: View,
  colours: Colours,
): void {
  const seen: Rect = {
    x: -view.x / view.zoom,
    y: -view.y / view.zoom,
    width: view.width / view.zoom,
    height: view.height / view.zoom,
  };
  const placed = (card: OverviewCard): OverviewCard =>
    part.isMoved(card.id) ? { ...card, x: card.x + part.shift.x, y: card.y + part.shift.y } : card;
  context.save();
  context.translate(view.x, view.y);
  context.scale(view.zoom, view.zoom);
  paintEdges(context, scene, part, placed, colours, view.zoom);
  const byLook = new Map<string, OverviewCard[]>();
  for (const card of scene.cards.values()) {
    if (!part.has(card.id)) continue;
    const here = placed(card);
    if (!intersects(here, seen)) continue;
    const look = `${card.tone ?? ""}/${scene.selection.has(card.id) ? "selected" : ""}`;
    const group = byLook.get(look);
    if (group === undefined) byLook.set(look, [here]);
    else group.push(here);
  }
  for (const [look, cards] of byLook) paintCards(context, look, cards, colours, view.zoom);
  context.restore();
}

export function paintNotes(context: CanvasRenderingContext2D, scene: Scene, view: View, colours: Colours): void {
  context.save();
  context.translate(view.x, view.y);
  context.scale(view.zoom, view.zoom);
  context.fillStyle = colours.note;
  for (const note of scene.notes) context.fillRect(note.x, note.y, note.width, note.height);
  context.restore();
}

function paintEdges(
  context: CanvasRenderingContext2D,
  scene: Scene,
  part: Part,
  placed: (card: OverviewCard) => OverviewCard,
  colours: Colours,
  zoom: number,
): void {
  context.beginPath();
  for (const edge of scene.edges) {
    if (!part.hasEdge(edge.source, edge.target)) continue;
    const [from, to] = [scene.cards.get(edge.source), scene.cards.get(edge.target)];
    if (from === undefined || to === undefined) continue;
    const [start, one, other, end] = cornersOf(placed(from), placed(to), scene.direction);
    context.moveTo(start.x, start.y);
    context.lineTo(one.x, one.y);
    context.lineTo(other.x, other.y);
    context.lineTo(end.x, end.y);
  }
  context.strokeStyle = colours.strong;
  context.lineWidth = 1 / zoom;
  context.stroke();
}

function paintCards(
  context: CanvasRenderingContext2D,
  look: string,
  cards: readonly OverviewCard[],
  colours: Colours,
  zoom: number,
): void {
  const [tone = "", chosen] = look.split("/");
  const [soft, strong] = colours.tones[tone] ?? [colours.surface, colours.strong];
  const isSelected = chosen === "selected";
  context.beginPath();
  for (const card of cards) {
    if (zoom < NAME_ZOOM) context.rect(card.x, card.y, card.width, card.height);
    else context.roundRect(card.x, card.y, card.width, card.height, ROUND);
  }
  context.fillStyle = soft;
  context.fill();
  context.strokeStyle = isSelected ? colours.accent : strong;
  context.lineWidth = (isSelected ? 2 : 0.75) / zoom;
  context.stroke();
  if (zoom < NAME_ZOOM) return;
  const size = NAME_SIZE / zoom;
  context.fillStyle = colours.text;
  context.font = `600 ${size}px ${colours.font}`;
  context.textBaseline = "middle";
  for (const card of cards) {
    const room = Math.floor((card.width - 16) / (size * LETTER));
    context.fillText(
      card.title.length > room ? `${card.title.slice(0, room - 1)}…` : card.title,
      card.x + 10,
      card.y + card.height / 2,
    );
  }
}

/** Label of the card under the pointer, in a readable size. */
export function paintHint(context: CanvasRenderingContext2D, card: OverviewCard, view: View, colours: Colours): void {
  const [x, y] = [view.x + (card.x + card.width / 2) * view.zoom, view.y + card.y * view.zoom];
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(view.x + card.x * view.zoom, y, card.width * view.zoom, card.height * view.zoom);
  if (view.zoom >= OVERVIEW_ZOOM) return;
  context.font = `600 12px ${colours.font}`;
  const width = context.measureText(card.title).width + 16;
  const left = Math.min(Math.max(4, x - width / 2), view.width - width - 4);
  context.beginPath();
  context.roundRect(left, y - 30, width, 24, 6);
  context.fillStyle = colours.surface;
  context.fill();
  context.strokeStyle = colours.strong;
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = colours.text;
  context.textBaseline = "middle";
  context.fillText(card.title, left + 8, y - 18);
}

export function paintFrame(context: CanvasRenderingContext2D, area: Rect, view: View, colours: Colours): void {
  const [x, y, width, height] = [
    view.x + area.x * view.zoom,
    view.y + area.y * view.zoom,
    area.width * view.zoom,
    area.height * view.zoom,
  ];
  context.globalAlpha = 0.1;
  context.fillStyle = colours.accent;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1;
  context.strokeRect(x, y, width, height);
}
