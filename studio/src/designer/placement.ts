/** Geometry of the canvas: positions of new cards, hit testing and selection. */

import type { Drawing } from "../diagram/flowElements";
import * as commands from "../editor/commands";
import type { Graph, GraphEdge, Point } from "../model/graph";
import { type Direction, sizeOf } from "../model/layout";

/** First card of a diagram: the start activity, or else the topmost or leftmost card. */
export function firstOf(graph: Graph, places: ReadonlyMap<string, Point>, direction: Direction): string | null {
  const axis = direction === "down" ? "y" : "x";
  const at = (id: string): number => places.get(id)?.[axis] ?? 0;
  const starting = graph.nodes.filter((node) => node.starts);
  const [first] = (starting.length > 0 ? starting : graph.nodes).toSorted((one, other) => at(one.id) - at(other.id));
  return first?.id ?? null;
}

export function isFreeLevel(drawing: Drawing): boolean {
  return drawing.level === "flowchart" || drawing.level === "states";
}

export function reselected(before: readonly string[], picked: ReadonlyMap<string, boolean>): string[] {
  const kept = before.filter((id) => picked.get(id) !== false);
  for (const [id, on] of picked) if (on && !kept.includes(id)) kept.push(id);
  return kept;
}

/** In a list, the drop position determines the index. */
export function reorderBy(
  settled: ReadonlyMap<string, Point>,
  drawing: Drawing,
  reorder: (id: string, index: number) => void,
): void {
  const isRow = drawing.level === "parallel";
  for (const [id, at] of settled) {
    if (id.startsWith("note:")) continue;
    const others = drawing.graph.nodes.filter((node) => node.id !== id);
    const index = others.filter((node) => {
      const place = drawing.places.get(node.id);
      return place !== undefined && (isRow ? place.x < at.x : place.y < at.y);
    }).length;
    reorder(id, index);
  }
}

export function afterSelected(
  graph: {
    readonly nodes: readonly { readonly id: string; readonly outcomes: readonly string[] }[];
    readonly edges: readonly { readonly source: string; readonly outcome: string | null }[];
  },
  selection: readonly string[],
): { id: string; outcome: string } | undefined {
  if (selection.length !== 1) return undefined;
  const node = graph.nodes.find((item) => item.id === selection[0]);
  if (node === undefined || node.outcomes.length === 0) return undefined;
  const used = new Set(graph.edges.filter((edge) => edge.source === node.id).map((edge) => edge.outcome ?? "Done"));
  return { id: node.id, outcome: node.outcomes.find((name) => !used.has(name)) ?? node.outcomes[0] ?? "Done" };
}

export function centreOf(element: HTMLElement | null): Point {
  const box = element?.getBoundingClientRect();
  return box === undefined
    ? { x: innerWidth / 2, y: innerHeight / 2 }
    : { x: box.x + box.width / 2 - 116, y: box.y + box.height / 2 - 28 };
}

export function cornerOf(element: HTMLElement | null): Point {
  const box = element?.getBoundingClientRect();
  return { x: (box?.x ?? 0) + 24, y: (box?.y ?? 0) + 24 };
}

/** For a note: the first position below the corner that is free of cards. */
export function freeCorner(
  corner: Point,
  graph: Graph,
  places: ReadonlyMap<string, Point>,
  direction: Direction,
): Point {
  const taken = graph.nodes.map((node) => ({ ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) }));
  let at = corner;
  for (let step = 0; step < 200; step += 1) {
    const here = at;
    const blocking = [...taken, ...graph.notes].find(
      (box) =>
        here.x < box.x + box.width && box.x < here.x + 200 && here.y < box.y + box.height && box.y < here.y + 104,
    );
    if (blocking === undefined) return at;
    at = { ...at, y: blocking.y + blocking.height + 16 };
  }
  return at;
}

export function screenOf(
  flow: { flowToScreenPosition(point: Point): Point },
  place: Point | null,
  frame: HTMLElement | null,
): Point {
  return place === null ? centreOf(frame) : flow.flowToScreenPosition({ x: place.x, y: place.y + 64 });
}

export function edgeUnder(at: Point): string | null {
  for (const element of document.elementsFromPoint(at.x, at.y)) {
    const edge = element.closest<SVGElement>(".react-flow__edge");
    if (edge !== null) return edge.dataset.id ?? null;
  }
  return null;
}

export function pasteText(text: string, at: Point, run: (command: ReturnType<typeof commands.paste>) => boolean): void {
  const clip = commands.readClip(text);
  if (clip !== null) run(commands.paste(clip, at));
}

/**
 * Makes room in a connection. The new card takes the position after the source; the following cards move by as much as
 * is
 * missing.
 */
export function makeRoom(
  edge: GraphEdge,
  graph: Graph,
  places: ReadonlyMap<string, Point>,
  direction: Direction,
): { at: Point; room: ReadonlyMap<string, Point> } | null {
  const source = graph.nodes.find((node) => node.id === edge.source);
  const [from, to] = [places.get(edge.source), places.get(edge.target)];
  if (source === undefined || from === undefined || to === undefined) return null;
  const isDown = direction === "down";
  const size = sizeOf(source, direction);
  const [axis, end, need] = isDown
    ? (["y", from.y + size.height, 56] as const)
    : (["x", from.x + size.width, 232] as const);
  const gap = isDown ? 64 : 88;
  const missing = end + gap + need + gap - to[axis];
  const at = isDown ? { x: from.x, y: end + gap } : { x: end + gap, y: from.y };
  if (to[axis] <= from[axis]) return null;
  const room = new Map<string, Point>();
  if (missing > 0) {
    for (const id of downstream(edge, graph)) {
      const place = places.get(id);
      if (place !== undefined && place[axis] >= to[axis]) room.set(id, { ...place, [axis]: place[axis] + missing });
    }
  }
  return { at: beside(at, graph, new Map([...places, ...room]), direction), room };
}

/** Nearest free position at the same height. */
function beside(at: Point, graph: Graph, places: ReadonlyMap<string, Point>, direction: Direction): Point {
  const taken = graph.nodes.map((node) => ({ ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) }));
  const isFree = (x: number, y: number): boolean =>
    !taken.some(
      (box) => x < box.x + box.width + 16 && box.x < x + 232 + 16 && y < box.y + box.height + 16 && box.y < y + 88 + 16,
    );
  for (let step = 0; step < 40; step += 1) {
    for (const side of [-1, 1]) {
      const next =
        direction === "down" ? { x: at.x + side * step * 24, y: at.y } : { x: at.x, y: at.y + side * step * 24 };
      if (isFree(next.x, next.y)) return next;
    }
  }
  return at;
}

function downstream(edge: GraphEdge, graph: Graph): ReadonlySet<string> {
  const reached = new Set([edge.target]);
  const waiting = [edge.target];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const next of graph.edges) {
      if (next.source !== id || next.target === edge.source || reached.has(next.target)) continue;
      reached.add(next.target);
      waiting.push(next.target);
    }
  }
  return reached;
}
