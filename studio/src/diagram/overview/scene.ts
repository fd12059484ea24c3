/** Geometry of the overview: boxes and lines, without a browser. */

import type { Graph, Point } from "../../model/graph";
import { type Direction, sizeOf } from "../../model/layout";
import type { Drawing } from "../flowElements";

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface OverviewCard extends Rect {
  readonly id: string;
  readonly title: string;
  readonly tone: string | null;
}

export interface Scene {
  readonly cards: ReadonlyMap<string, OverviewCard>;
  readonly notes: readonly Rect[];
  readonly edges: Graph["edges"];
  readonly direction: Direction;
  readonly selection: ReadonlySet<string>;
  readonly bounds: Rect;
}

/** With more cards than this, cards outside the viewport are not rendered, and the zoomed-out view is one picture. */
export const LARGE_GRAPH = 150;
/** Below this zoom, a card is a box with its name; at very low zoom only a box. */
export const OVERVIEW_ZOOM = 0.45;

export function sceneOf(drawing: Drawing, toneOf: (id: string) => string | null): Scene {
  const { graph, places, direction, selection } = drawing;
  const cards = new Map<string, OverviewCard>();
  for (const node of graph.nodes) {
    const at = places.get(node.id) ?? { x: 0, y: 0 };
    cards.set(node.id, { id: node.id, title: node.title, tone: toneOf(node.id), ...at, ...sizeOf(node, direction) });
  }
  return {
    cards,
    notes: graph.notes,
    edges: graph.edges,
    direction,
    selection,
    bounds: boundsOf([...cards.values(), ...graph.notes]),
  };
}

/** Bounding box. */
export function boundsOf(boxes: readonly Rect[]): Rect {
  if (boxes.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** The card at a point. Of two overlapping cards, the one painted last. */
export function cardAt(scene: Scene, point: Point): OverviewCard | null {
  let found: OverviewCard | null = null;
  for (const card of scene.cards.values()) if (intersects(card, { ...point, width: 0, height: 0 })) found = card;
  return found;
}

/** The next or previous card in reading order. Without a current card: the first or the last one. */
export function nextTo(scene: Scene, id: string | null, step: 1 | -1): OverviewCard | null {
  const isDown = scene.direction === "down";
  const cards = [...scene.cards.values()].sort((one, other) =>
    isDown ? one.y - other.y || one.x - other.x : one.x - other.x || one.y - other.y,
  );
  const at = id === null ? -1 : cards.findIndex((card) => card.id === id);
  return at === -1 ? (cards.at(step === 1 ? 0 : -1) ?? null) : (cards[at + step] ?? null);
}

export function cardsIn(scene: Scene, area: Rect): string[] {
  return [...scene.cards.values()].filter((card) => intersects(card, area)).map((card) => card.id);
}

export function intersects(one: Rect, other: Rect): boolean {
  return (
    one.x <= other.x + other.width &&
    other.x <= one.x + one.width &&
    one.y <= other.y + other.height &&
    other.y <= one.y + one.height
  );
}

/** Rectangle between two corners, in any order. */
export function between(one: Point, other: Point): Rect {
  return {
    x: Math.min(one.x, other.x),
    y: Math.min(one.y, other.y),
    width: Math.abs(one.x - other.x),
    height: Math.abs(one.y - other.y),
  };
}

/** Corners of a connection: out of the card, across the middle, into the next card. */
export function cornersOf(from: Rect, to: Rect, direction: Direction): readonly [Point, Point, Point, Point] {
  if (direction === "down") {
    const [start, end] = [
      { x: from.x + from.width / 2, y: from.y + from.height },
      { x: to.x + to.width / 2, y: to.y },
    ];
    const middle = (start.y + end.y) / 2;
    return [start, { x: start.x, y: middle }, { x: end.x, y: middle }, end];
  }
  const [start, end] = [
    { x: from.x + from.width, y: from.y + from.height / 2 },
    { x: to.x, y: to.y + to.height / 2 },
  ];
  const middle = (start.x + end.x) / 2;
  return [start, { x: middle, y: start.y }, { x: middle, y: end.y }, end];
}
