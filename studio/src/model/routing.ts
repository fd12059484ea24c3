/**
 * Detours of connections that would run behind a card. A detour uses the free channel nearest to both ends.
 *
 * A connection without a detour is drawn as a plain step.
 */

import { type Graph, handleOf, type Point } from "./graph";
import { type Direction, sizeOf } from "./layout";

interface Box {
  readonly id: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Detour {
  /** Positions of the ends when the detour was computed. It is valid only for these. */
  readonly from: Point;
  readonly to: Point;
  /** Coordinate of the channel: x for `down`, y for `right`. */
  readonly channel: number;
}

const CLEAR = 20;
const STEP = 20;

const known = new WeakMap<
  ReadonlyMap<string, Point>,
  { graph: Graph; direction: Direction; found: ReadonlyMap<string, Detour> }
>();

/** Cached per graph and positions, because every selection asks again. */
export function detours(
  graph: Graph,
  places: ReadonlyMap<string, Point>,
  direction: Direction,
): ReadonlyMap<string, Detour> {
  const last = known.get(places);
  if (last !== undefined && last.graph.edges === graph.edges && last.direction === direction) return last.found;
  const found = find(graph, places, direction);
  known.set(places, { graph, direction, found });
  return found;
}

function find(graph: Graph, places: ReadonlyMap<string, Point>, direction: Direction): ReadonlyMap<string, Detour> {
  const isDown = direction === "down";
  const turned = (point: Point): Point => (isDown ? point : { x: point.y, y: point.x });
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const boxes = new Map<string, Box>();
  for (const node of graph.nodes) {
    const at = turned(places.get(node.id) ?? { x: 0, y: 0 });
    const size = sizeOf(node, direction);
    const [width, height] = isDown ? [size.width, size.height] : [size.height, size.width];
    boxes.set(node.id, { id: node.id, left: at.x, right: at.x + width, top: at.y, bottom: at.y + height });
  }
  const rows = new Rows([...boxes.values()]);
  const found = new Map<string, Detour>();
  for (const edge of graph.edges) {
    const source = boxes.get(edge.source);
    const target = boxes.get(edge.target);
    if (source === undefined || target === undefined || source === target) continue;
    const outcomes = nodes.get(edge.source)?.outcomes ?? [];
    const names = outcomes.length > 0 ? outcomes : ["Done"];
    const share = (Math.max(0, names.indexOf(handleOf(edge.outcome, names))) + 1) / (names.length + 1);
    const from = { x: source.left + (source.right - source.left) * share, y: source.bottom };
    const to = { x: (target.left + target.right) / 2, y: target.top };
    const channel = from.y < to.y ? forwardChannel(from, to, rows) : backwardChannel(from, to, source, target, rows);
    if (channel !== null) found.set(edge.id, { from: turned(from), to: turned(to), channel });
  }
  return found;
}

/** Boxes sorted by top: finds the boxes between two heights without testing all. */
export class Rows {
  readonly #byTop: readonly Box[];
  readonly #tallest: number;

  constructor(boxes: Box[]) {
    this.#byTop = boxes.sort((one, other) => one.top - other.top);
    this.#tallest = boxes.reduce((most, box) => Math.max(most, box.bottom - box.top), 0);
  }

  between(top: number, bottom: number): Box[] {
    const found: Box[] = [];
    for (let index = this.#firstBelow(top - this.#tallest); index < this.#byTop.length; index += 1) {
      const box = this.#byTop[index];
      if (box === undefined || box.top >= bottom) break;
      if (box.bottom > top) found.push(box);
    }
    return found;
  }

  #firstBelow(height: number): number {
    let [low, high] = [0, this.#byTop.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#byTop[middle]?.top ?? Infinity) < height) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns null if the plain step is free: down to the middle, across, and down. */
function forwardChannel(from: Point, to: Point, rows: Rows): number | null {
  const between = rows.between(from.y + 4, to.y - 4);
  if (between.length === 0) return null;
  const middle = (from.y + to.y) / 2;
  const isFree =
    isClear(from.x, from.y, middle, between) &&
    isClear(to.x, middle, to.y, between) &&
    isClearAcross(from.x, to.x, middle, between);
  return isFree ? null : nearest(from, to, from.y + STEP, to.y - STEP, between);
}

/** For a back edge: a channel beside all boxes between the two. */
function backwardChannel(from: Point, to: Point, source: Box, target: Box, rows: Rows): number | null {
  const top = Math.min(from.y, to.y) - STEP;
  const bottom = Math.max(from.y, to.y) + STEP;
  const between = rows.between(top, bottom);
  if (!between.includes(source)) between.push(source);
  if (!between.includes(target)) between.push(target);
  return nearest(from, to, top, bottom, between);
}

function nearest(from: Point, to: Point, top: number, bottom: number, boxes: readonly Box[]): number | null {
  const candidates = [from.x, to.x, ...boxes.flatMap((box) => [box.left - CLEAR, box.right + CLEAR])];
  let best: number | null = null;
  let cost = Number.POSITIVE_INFINITY;
  for (const x of candidates) {
    const length = Math.abs(x - from.x) + Math.abs(x - to.x);
    if (length < cost && isClear(x, top, bottom, boxes)) [best, cost] = [x, length];
  }
  return best;
}

function isClear(x: number, top: number, bottom: number, boxes: readonly Box[]): boolean {
  return !boxes.some((box) => x > box.left - 6 && x < box.right + 6 && box.bottom > top + 1 && box.top < bottom - 1);
}

function isClearAcross(one: number, other: number, y: number, boxes: readonly Box[]): boolean {
  const [left, right] = one < other ? [one, other] : [other, one];
  return !boxes.some((box) => y > box.top - 6 && y < box.bottom + 6 && box.right > left && box.left < right);
}

/** Path through a channel, with rounded corners. */
export function detourPath(
  from: Point,
  to: Point,
  channel: number,
  direction: Direction,
): { path: string; label: Point } {
  const isDown = direction === "down";
  const points: Point[] = isDown
    ? [
        from,
        { x: from.x, y: from.y + STEP },
        { x: channel, y: from.y + STEP },
        { x: channel, y: to.y - STEP },
        { x: to.x, y: to.y - STEP },
        to,
      ]
    : [
        from,
        { x: from.x + STEP, y: from.y },
        { x: from.x + STEP, y: channel },
        { x: to.x - STEP, y: channel },
        { x: to.x - STEP, y: to.y },
        to,
      ];
  const label = isDown ? { x: channel, y: (from.y + to.y) / 2 } : { x: (from.x + to.x) / 2, y: channel };
  return { path: rounded(points.filter((point, index) => index === 0 || !same(point, points[index - 1]))), label };
}

function same(one: Point, other: Point | undefined): boolean {
  return other !== undefined && Math.abs(one.x - other.x) < 0.5 && Math.abs(one.y - other.y) < 0.5;
}

const RADIUS = 10;

export function rounded(points: readonly Point[]): string {
  const [first] = points;
  if (first === undefined) return "";
  const parts = [`M${first.x} ${first.y}`];
  for (let index = 1; index < points.length - 1; index += 1) {
    const [before, at, after] = [points[index - 1], points[index], points[index + 1]];
    if (before === undefined || at === undefined || after === undefined) continue;
    const radius = Math.min(RADIUS, distance(before, at) / 2, distance(at, after) / 2);
    const start = towards(at, before, radius);
    const end = towards(at, after, radius);
    parts.push(`L${start.x} ${start.y}Q${at.x} ${at.y} ${end.x} ${end.y}`);
  }
  const last = points.at(-1) ?? first;
  parts.push(`L${last.x} ${last.y}`);
  return parts.join("");
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to) || 1;
  return { x: from.x + ((to.x - from.x) * length) / whole, y: from.y + ((to.y - from.y) * length) / whole };
}
