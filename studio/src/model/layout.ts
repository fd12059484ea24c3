/** Layout of cards: sizes without a browser, and positions by dagre for cards without one. */

import dagre from "@dagrejs/dagre";
import type { LevelKind } from "./focus";
import type { Graph, GraphEdge, GraphNode, Point } from "./graph";

export type Direction = "down" | "right";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const GRID = 8;
export const CARD_WIDTH = 232;
export const CARD_HEIGHT = 56;
const CHIP_ROW = 32;
const CHIPS_PER_ROW = 3;
const OUTCOME_ROW = 20;
const GAP = { down: { rank: 64, node: 40 }, right: { rank: 88, node: 32 } } as const;
const LABEL_WIDTH = 8;
const SINGLE_EDGE_WEIGHT = 3;

export function sizeOf(node: GraphNode, direction: Direction): Size {
  const rows = Math.ceil(node.chips.length / CHIPS_PER_ROW);
  const height = CARD_HEIGHT + rows * CHIP_ROW;
  const outcomes = direction === "right" && node.outcomes.length > 2 ? node.outcomes.length * OUTCOME_ROW + 16 : 0;
  return { width: CARD_WIDTH, height: snap(Math.max(height, outcomes)) };
}

export function snap(value: number): number {
  return Math.round(value / GRID) * GRID;
}

/** Direction of a diagram: that of most connections between placed cards; `down` by default. */
export function directionOf(graph: Graph): Direction {
  const at = new Map(graph.nodes.map((node) => [node.id, node.position]));
  let across = 0;
  let along = 0;
  for (const edge of graph.edges) {
    const from = at.get(edge.source);
    const to = at.get(edge.target);
    if (!from || !to) continue;
    across += Math.abs(to.x - from.x) > Math.abs(to.y - from.y) ? 1 : 0;
    along += Math.abs(to.x - from.x) > Math.abs(to.y - from.y) ? 0 : 1;
  }
  return across > along ? "right" : "down";
}

/** Position of every node: its own if the level stores positions, or else a computed one. */
export function placeAll(graph: Graph, kind: LevelKind, direction: Direction): ReadonlyMap<string, Point> {
  if (kind === "flowchart" || kind === "states") return placeFree(graph, direction);
  if (kind === "parallel") return placeRow(graph);
  return placeColumn(graph);
}

function placeColumn(graph: Graph): ReadonlyMap<string, Point> {
  const places = new Map<string, Point>();
  let y = 0;
  for (const node of graph.nodes) {
    places.set(node.id, { x: 0, y });
    y += sizeOf(node, "down").height + 40;
  }
  return places;
}

function placeRow(graph: Graph): ReadonlyMap<string, Point> {
  return new Map(graph.nodes.map((node, index) => [node.id, { x: index * (CARD_WIDTH + 40), y: 0 }]));
}

function placeFree(graph: Graph, direction: Direction): ReadonlyMap<string, Point> {
  const places = new Map<string, Point>();
  for (const node of graph.nodes) if (node.position !== null) places.set(node.id, node.position);
  if (places.size === graph.nodes.length) return places;
  const computed = layout(graph.nodes, graph.edges, direction);
  if (places.size === 0) return computed;
  return settle(graph.nodes, computed, places, direction);
}

/** Lays out all nodes from scratch. */
export function layout(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  direction: Direction,
): ReadonlyMap<string, Point> {
  return layoutBoxes(
    nodes.map((node) => ({ id: node.id, ...sizeOf(node, direction) })),
    edges,
    direction,
  );
}

/** Lays out any boxes with a size. */
export function layoutBoxes(
  boxes: readonly (Size & { readonly id: string })[],
  edges: readonly Pick<GraphEdge, "id" | "source" | "target" | "label">[],
  direction: Direction,
): ReadonlyMap<string, Point> {
  const chart = new dagre.graphlib.Graph({ multigraph: true });
  const gap = GAP[direction];
  chart.setGraph({ rankdir: direction === "down" ? "TB" : "LR", ranksep: gap.rank, nodesep: gap.node, edgesep: 16 });
  chart.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of boxes) chart.setNode(id, { width, height });
  const entering = new Map<string, number>();
  for (const edge of edges) entering.set(edge.target, (entering.get(edge.target) ?? 0) + 1);
  for (const edge of edges) {
    if (edge.source === edge.target || !chart.hasNode(edge.source) || !chart.hasNode(edge.target)) continue;
    const width = edge.label.length * LABEL_WIDTH;
    // A single incoming edge weighs more: a branch stays near the card where it starts.
    const weight = entering.get(edge.target) === 1 ? SINGLE_EDGE_WEIGHT : 1;
    chart.setEdge(edge.source, edge.target, { width, height: 16, labelpos: "c", weight }, edge.id);
  }
  dagre.layout(chart);
  return new Map(
    boxes.map(({ id, width, height }) => {
      const at = chart.node(id);
      return [id, { x: snap(at.x - width / 2), y: snap(at.y - height / 2) }];
    }),
  );
}

/**
 * Combines computed with given positions. Given positions stay. The others keep their offset to them and move aside
 * where
 * they would overlap.
 */
export function settle(
  nodes: readonly GraphNode[],
  computed: ReadonlyMap<string, Point>,
  given: ReadonlyMap<string, Point>,
  direction: Direction,
): ReadonlyMap<string, Point> {
  const shift = meanShift(computed, given);
  const places = new Map(given);
  const sizes = new Map(nodes.map((node) => [node.id, sizeOf(node, direction)]));
  for (const node of nodes) {
    if (given.has(node.id)) continue;
    const at = computed.get(node.id) ?? { x: 0, y: 0 };
    let place = { x: snap(at.x + shift.x), y: snap(at.y + shift.y) };
    while (overlaps(node.id, place, places, sizes)) {
      place = direction === "down" ? { ...place, x: place.x + 40 } : { ...place, y: place.y + 40 };
    }
    places.set(node.id, place);
  }
  return places;
}

function meanShift(computed: ReadonlyMap<string, Point>, given: ReadonlyMap<string, Point>): Point {
  let [x, y, count] = [0, 0, 0];
  for (const [id, at] of given) {
    const other = computed.get(id);
    if (other === undefined) continue;
    [x, y, count] = [x + at.x - other.x, y + at.y - other.y, count + 1];
  }
  return count === 0 ? { x: 0, y: 0 } : { x: x / count, y: y / count };
}

function overlaps(
  id: string,
  place: Point,
  taken: ReadonlyMap<string, Point>,
  sizes: ReadonlyMap<string, Size>,
): boolean {
  const own = sizes.get(id);
  if (own === undefined) return false;
  for (const [other, at] of taken) {
    const size = sizes.get(other);
    if (size === undefined || other === id) continue;
    const apart =
      place.x + own.width + GRID <= at.x ||
      at.x + size.width + GRID <= place.x ||
      place.y + own.height + GRID <= at.y ||
      at.y + size.height + GRID <= place.y;
    if (!apart) return true;
  }
  return false;
}

/** A free position for a card after the source. */
export function placeAfter(
  graph: Graph,
  places: ReadonlyMap<string, Point>,
  source: GraphNode,
  direction: Direction,
  next: Size,
): Point {
  const at = places.get(source.id) ?? { x: 0, y: 0 };
  const size = sizeOf(source, direction);
  const start = direction === "down" ? { x: at.x, y: at.y + size.height + 64 } : { x: at.x + size.width + 88, y: at.y };
  const sizes = new Map([
    ...graph.nodes.map((node) => [node.id, sizeOf(node, direction)] as const),
    ["", next] as const,
  ]);
  let place = { x: snap(start.x), y: snap(start.y) };
  while (overlaps("", place, places, sizes)) {
    place =
      direction === "down" ? { ...place, x: place.x + CARD_WIDTH + 40 } : { ...place, y: place.y + next.height + 32 };
  }
  return place;
}
